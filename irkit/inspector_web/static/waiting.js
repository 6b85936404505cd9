// Wait until there are runs to show, show the progress meanwhile, and look for newer runs.

import { byId, el, fill } from "./dom.js";

export class Waiting {
  constructor(source, page) {
    this.source = source;
    this.page = page;
    this.revision = 0;
    this.watching = true;
    source.onLost = (isOther) => this.lost(isOther);
  }

  // The server is gone, or another one has taken its place: say so, and connect again when possible.
  async lost(isOther = false) {
    const said = isOther
      ? el("span", {}, "The server was started again, under another address. Open the one that irkit inspect printed, and put this at its end to see the same: ", el("code", {}, location.hash))
      : el("span", {}, "The server does not respond. This page connects again as soon as it does; what you see stays in the address.");
    if (this.note) { if (this.said !== isOther) fill(this.note, said); this.said = isOther; return; }
    this.said = isOther;
    this.note = el("div", { id: "lost", role: "alert" }, said);
    byId("body").before(this.note);
    let status = null;
    while (!status) {
      await new Promise((done) => setTimeout(done, 500));
      status = await this.source.status().catch(() => null);
    }
    this.note.remove();
    this.note = null;
    this.revision = status.revision;
    if (status.state === "ready") await this.page.load(status.message, status.stale);
    else await this.poll();
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
      if (status.state === "ready") return this.page.load(status.message, status.stale);
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
      if (status.state === "ready") await this.page.load(status.message, status.stale);
      else this.failed(status.message);
    }
  }
}
