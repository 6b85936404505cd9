// The rewrites of one pass, one by one: a slider goes through them, and each has its difference.

import { DiffView } from "../diff/diff_view.js";
import { TextChain } from "../diff/text_chain.js";
import { copyText, el, errorParts, fill, milliseconds, plural } from "../dom.js";
import { runJob, JobProgress } from "../jobs/job.js";

// Show them in place of the difference; `view` tells which request was the last.
export async function showRewrites(source, view, given) {
  const progress = new JobProgress("Running the pass again");
  view.showMessage("empty", progress.element);
  const mine = view.shown;
  const { run, step } = given;
  const ask = (args) => runJob(source, "rewrites", { run, step, ...args }, { onProgress: progress.show, signal: progress.signal });
  try {
    const [made, info] = await Promise.all([ask({}), source.step(run, step)]);
    if (mine !== view.shown) return;
    if (!made.states?.length) { view.showMessage("empty", el("p", {}, made.note), ruleTable(info.rules, null)); return; }
    view.inner = new RewritesView(view, made, { ...given, rules: info.rules, ask, editor: { file: info.source?.file, button: given.editor } });
    await view.inner.goTo(given.rewrite || given.guilty || made.states[0].first);
  } catch (error) {
    if (mine === view.shown) view.showMessage("error", ...errorParts(error));
  }
}

class RewritesView {
  constructor(outer, made, given) {
    Object.assign(this, { outer, made, given });
    this.rule = "";
    this.slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Rewrite", oninput: () => this.show(Number(this.slider.value)) });
    this.said = el("output", { class: "rewrite-count", role: "status" });
    this.apart = el("button", { type: "button", hidden: true, onclick: () => this.takeApart() }, "One by one");
    this.about = el("div", { class: "rewrite-about" });
    this.box = el("div", { class: "llvm-diff", tabindex: -1 });
    this.rules = el("nav", { "aria-label": "Rules of the pass" });
    fill(outer.view, el("div", { class: "llvm-passes rewrites" }, this.rules,
      el("div", { class: "llvm-shown" }, el("div", { class: "rewrite-bar", role: "group", "aria-label": "Rewrites" }, this.said, this.slider, this.apart), this.about, this.box)));
    this.load(made);
  }

  load(made) {
    this.made = made;
    this.diff = new DiffView(new TextChain(made, made.states), { onLine: () => null, onChange: () => this.outer.follow(this.diff), view: this.box });
    this.filter("");
  }

  // Only the states in which a rule fired; all without one.
  filter(rule) {
    this.rule = rule;
    this.shown = this.made.states.map((state, at) => at).filter((at) => !rule || this.made.states[at].rules.includes(rule));
    this.slider.max = String(this.shown.length - 1);
    this.slider.disabled = this.shown.length < 2;
    fill(this.rules, el("p", { class: "note" }, `${plural(this.made.of, "rewrite")} of ${this.given.name}. `, el("span", { class: "by-key" }, "Keys ", el("kbd", {}, ","), " ", el("kbd", {}, "."))),
      ruleTable(this.given.rules, { of: this.made.states, rule, choose: (name) => { this.filter(name === this.rule ? "" : name); this.show(0); } }),
      this.made.note ? el("p", { class: "note" }, this.made.note) : null);
  }

  // Go to the state with a rewrite, by its number from 1.
  goTo(number) {
    const at = this.shown.findIndex((place) => this.made.states[place].last >= number);
    return this.show(at < 0 ? this.shown.length - 1 : at);
  }

  step(ahead) { return this.show(this.at + ahead); }

  go(ahead) { this.diff.go(ahead); }

  async show(at) {
    this.at = Math.max(0, Math.min(this.shown.length - 1, at));
    const place = this.shown[this.at];
    const state = this.made.states[place];
    const { first, last } = state;
    const text = first === last ? `Rewrite ${first} of ${this.made.of}` : `Rewrites ${first}–${last} of ${this.made.of}`;
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", text);
    fill(this.said, text);
    const more = last - first + 1 - state.rewrites.length;
    fill(this.about, ...state.rewrites.map((each) => rewritePart(each, this.given)),
      more > 0 ? el("p", {}, `and ${more} more`) : null);
    this.apart.hidden = last === first;
    this.given.onRewrite(first);
    await this.diff.show(place, place + 1, { inline: this.given.inline, whole: this.given.whole, wrap: true });
    if (this.given.guilty && first <= this.given.guilty && this.given.guilty <= last) this.box.prepend(el("p", { class: "note problem" }, "This rewrite changes what the program computes."));
  }

  // Take a state that stands for several rewrites apart.
  async takeApart() {
    const { first, last } = this.made.states[this.shown[this.at]];
    try {
      const made = await this.given.ask({ first, last });
      this.load(made);
      await this.show(0);
    } catch (error) {
      fill(this.about, el("div", { class: "error", role: "alert" }, ...errorParts(error)));
    }
  }
}

function rewritePart(each, { editor }) {
  const place = each.place ? copyable(each.place, "copyable link") : null;
  return el("p", { class: "rewrite-rule" }, el("b", {}, each.rule), " ", place, each.code ? el("code", {}, each.code) : null,
    each.remark ? el("span", { class: "rewrite-remark" }, each.remark) : null, editorOf(each.place, editor));
}

// The editor opens rules that are in the file of the pass.
function editorOf(place = "", { file, button }) {
  const [name, line] = place.split(":");
  const made = line && name === file ? button(Number(line)) : null;
  made?.classList.add("link");
  return made;
}

export function copyable(text, look = "copyable") {
  return el("button", { type: "button", class: look, title: "Copy", onclick: (event) => copyText(text, event.currentTarget) }, text);
}

// Hits and time of each rule; `chosen` lets one be picked.
function ruleTable(rules, chosen) {
  if (!rules.length) return null;
  const known = new Set(chosen?.of.flatMap((state) => state.rules) ?? []);
  const name = (rule) => rule.replaceAll("<locals>.", "");
  const broken = (text) => text.split(".").flatMap((part, at) => (at ? [".", el("wbr"), part] : [part]));
  const rows = rules.map((each) => {
    const text = name(each.rule);
    const label = known.has(text)
      ? el("button", { type: "button", class: "link", "aria-pressed": String(chosen.rule === text), onclick: () => chosen.choose(text) }, ...broken(text))
      : el("span", {}, ...broken(text));
    return el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, each.hits.toLocaleString("en")), el("td", {}, each.ms ? milliseconds(each.ms) : "–"));
  });
  return el("table", { class: "rule-table" },
    el("thead", {}, el("tr", {}, ...["rule", "hits", "time"].map((title) => el("th", { scope: "col" }, title)))), el("tbody", {}, ...rows));
}
