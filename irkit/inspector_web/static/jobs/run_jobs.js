// What can be asked about a run: verdicts, the guilty pass, native costs, LLVM's own passes.

import { Costs } from "./costs.js";
import { byId, el } from "../dom.js";
import { Verdicts } from "./verdicts.js";

export class Asking {
  constructor(page) {
    this.page = page;
    const place = (id) => { const made = el("section", { id }); page.details.asked.append(made); return made; };
    this.verdicts = new Verdicts(page, place("verdict"));
    this.costs = new Costs(page, place("cost"));
    byId("check-buttons").hidden = !page.source.canWork;
  }

  // New runs: what was found of older ones is forgotten, here as on the server.
  restore() {
    return Promise.all([this.verdicts.restore(), this.costs.restore()]).catch(() => null);
  }

  show() {
    this.verdicts.refresh();
    this.costs.show();
  }

  // What stands below the last phase over loops: LLVM goes on from there.
  tail() {
    const { page } = this;
    if (!page.source.canWork) return null;
    if (page.place.filter || page.place.touches) return null;
    const last = page.steps.filter((row) => row.level !== "graph" && row.status !== "failed").pop();
    if (!last) return null;
    return el("button", { type: "button", id: "llvm-tail", class: "tail", onclick: () => { page.keep({ show: "llvm-passes", llvm: null }); page.moves.goStep(last.index); } },
      el("span", { class: "mark", "aria-hidden": "true" }, "→"), el("span", { class: "name" }, "LLVM’s own passes"));
  }

  keys() {
    if (!this.page.source.canWork) return {};
    return {
      m: () => { if (this.page.step.status === "changed") this.verdicts.askStep(false); },
      M: () => this.verdicts.askAll(false),
      f: () => this.verdicts.askGuilty(),
      w: () => { if (this.page.step.status === "changed" && this.page.step.level !== "graph") this.costs.ask("cost"); },
      ",": () => this.page.view.inner?.step(-1),
      ".": () => this.page.view.inner?.step(1),
    };
  }
}
