// The jobs about a run: verdicts, the guilty pass, native costs, LLVM's own passes.

import { Costs } from "./costs.js";
import { byId, el } from "../dom.js";
import { Verdicts } from "./verdicts.js";

export class RunJobs {
  constructor(page) {
    this.page = page;
    const place = (id) => { const made = el("section", { id }); page.details.jobs.append(made); return made; };
    this.verdicts = new Verdicts(page, place("verdict"));
    this.costs = new Costs(page, place("cost"));
  }

  // Get the results that the server has; with new runs it has forgotten the old ones.
  restore() {
    return Promise.all([this.verdicts.restore(), this.costs.restore()]).catch(() => null);
  }

  show() {
    this.verdicts.refresh();
    this.costs.show();
  }

  // The entry below the last loop pass, for LLVM's passes, which follow it.
  tail() {
    const { page } = this;
    if (page.isText) return null;
    if (page.place.filter || page.place.touches) return null;
    const last = page.steps.filter((row) => row.level !== "graph" && row.status !== "failed").pop();
    if (!last) return null;
    return el("button", { type: "button", id: "llvm-tail", class: "tail", "aria-disabled": page.canRun ? null : "true", onclick: () => { page.keep({ show: "llvm-passes", llvm: null }); page.moves.goStep(last.index); } },
      el("span", { class: "mark", "aria-hidden": "true" }, "→"), el("span", { class: "name" }, "LLVM’s own passes"));
  }

  keys() {
    const may = (go) => this.page.unavailable.unless(go);
    return {
      m: may(() => { if (this.page.step.status === "changed") { this.page.openDetails(); this.verdicts.askStep(false); } }),
      M: may(() => this.verdicts.askAll(false)),
      f: may(() => this.verdicts.askGuilty()),
      w: may(() => { if (this.page.step.status === "changed" && this.page.step.level !== "graph") { this.page.openDetails(); this.costs.ask("cost"); } }),
      ",": () => this.page.view.inner?.step(-1),
      ".": () => this.page.view.inner?.step(1),
    };
  }
}
