// Wait until there are runs to show, show the progress meanwhile, and look for newer runs.

import { byId, el } from "./dom.js";

export class Waiting {
  constructor(source, page) {
    this.source = source;
    this.page = page;
    this.revision = 0;
    this.watching = true;
  }

  // Wait for the first runs, showing the progress meanwhile.
  async poll() {
    for (;;) {
      let status;
      try {
        status = await this.source.status();
      } catch (error) {
        return this.failed(error.message);
      }
      byId("title").textContent = status.title;
      document.title = `${status.title} · irkit`;
      this.revision = status.revision;
      this.watching = status.watching;
      if (status.state === "ready") return this.page.load(status.message);
      if (status.state === "failed") return this.failed(status.message);
      this.working(status);
      await new Promise((done) => setTimeout(done, 250));
    }
  }

  working(status) {
    const bar = status.total ? el("progress", { max: status.total, value: status.done, "aria-label": "Progress" }) : el("progress", { "aria-label": "Progress" });
    const count = status.total ? `, ${status.done} of ${status.total}` : "";
    this.page.view.showMessage("empty working", el("h2", {}, `Lowering ${status.title}`), bar, el("p", {}, `${status.what}${count} · ${status.seconds.toFixed(0)} s`));
  }

  failed(message) {
    this.page.view.showMessage("error", el("h2", {}, "This cannot be shown"), el("pre", { tabindex: 0 }, message), el("button", { type: "button", onclick: () => this.again() }, "Try again"));
  }

  async again() {
    try {
      await this.source.reload();
    } catch (error) {
      return this.failed(error.message);
    }
    return this.poll();
  }

  // Show new runs when there are any.
  async watch() {
    while (this.watching) {
      await new Promise((done) => setTimeout(done, 200));
      const status = await this.source.status().catch(() => null);
      if (!status) continue;
      if (status.revision === this.revision || status.state === "working") continue;
      this.revision = status.revision;
      if (status.state === "ready") await this.page.load(status.message);
      else this.failed(status.message);
    }
  }
}
