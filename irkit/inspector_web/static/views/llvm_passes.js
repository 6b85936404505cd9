// LLVM's own passes on a stage: a list, and beside it the difference of the chosen pass.

import { DiffView } from "../diff/diff_view.js";
import { el, errorParts, fill, plural } from "../dom.js";
import { TextChain } from "../diff/text_chain.js";
import { runJob, JobProgress } from "../jobs/job.js";

// Show them in place of the difference; `view` tells which request was the last.
export async function showLlvmPasses(source, view, given) {
  const progress = new JobProgress("Running LLVM");
  view.showMessage("empty", progress.element);
  const mine = view.shown;
  try {
    const made = await runJob(source, "llvm-passes", { state: given.right }, { onProgress: progress.show, signal: progress.signal });
    if (mine !== view.shown) return;
    view.inner = new LlvmView(view, made, given);
    await view.inner.choose(given.llvm ?? 0);
  } catch (error) {
    if (mine === view.shown) view.showMessage("error", ...errorParts(error));
  }
}

class LlvmView {
  constructor(outer, made, given) {
    this.made = made;
    this.given = given;
    this.box = el("div", { class: "llvm-diff", tabindex: -1 });
    this.title = el("p", { class: "note", role: "status" });
    this.buttons = made.passes.map((each, at) => el("button", { type: "button", class: "llvm-pass", onclick: () => this.choose(at) },
      el("span", { class: "name" }, each.name, el("small", {}, each.on)),
      el("span", { class: "delta" }, el("span", { class: "plus" }, `+${each.added}`), " ", el("span", { class: "minus" }, `−${each.removed}`))));
    const more = made.more ? `; ${made.more} more are not shown` : "";
    const said = `${plural(made.passes.length, "pass", "passes")} of LLVM changed something in ${made.function}, in this order${more}.`;
    fill(outer.view, el("div", { class: "llvm-passes" },
      el("nav", { "aria-label": "LLVM's passes" }, el("p", { class: "note" }, said, " ", el("span", { class: "by-key" }, "Keys ", el("kbd", {}, ","), " ", el("kbd", {}, "."))), el("ol", {}, ...this.buttons.map((each) => el("li", {}, each)))),
      el("div", { class: "llvm-shown" }, this.title, this.box)));
    this.diff = new DiffView(new TextChain(made, made.passes), { onLine: () => null, onChange: () => outer.follow(this.diff), view: this.box });
    this.at = 0;
  }

  step(ahead) { return this.choose(this.at + ahead); }

  async choose(at) {
    if (!this.made.passes.length) return fill(this.box, el("p", { class: "empty" }, "LLVM changed nothing."));
    this.at = Math.max(0, Math.min(this.made.passes.length - 1, at));
    this.buttons.forEach((each, place) => (place === this.at ? each.setAttribute("aria-current", "true") : each.removeAttribute("aria-current")));
    this.buttons[this.at].scrollIntoView({ block: "nearest" });
    const each = this.made.passes[this.at];
    this.title.textContent = `${this.at + 1} of ${this.made.passes.length}: ${each.name} on ${each.on}`;
    this.given.onLlvm(this.at);
    return this.diff.show(this.at, this.at + 1, { inline: this.given.inline, whole: this.given.whole });
  }

  go(ahead) { this.diff.go(ahead); }
}
