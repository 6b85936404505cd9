// The cost of a function as native code, before and after a pass, and after each of its passes.

import { el, fill } from "../dom.js";
import { knownJobs, runShown } from "./job.js";

export class Costs {
  constructor(page, place) {
    this.page = page;
    this.source = page.source;
    this.place = place;
    this.job = el("div", { class: "job-slot" });
    this.pairs = new Map();
    this.all = new Map();
  }

  async restore() {
    this.pairs.clear();
    this.all.clear();
    if (!this.source.canRunJobs) return;
    for (const kind of ["cost", "costs"]) {
      for (const info of await knownJobs(this.source, kind)) {
        if (info.state === "done") this.addResult(kind, info.arguments, (await this.source.job(info.id)).result);
      }
    }
  }

  addResult(kind, args, made) {
    if (kind === "cost") this.pairs.set(`${args.run}.${args.step}`, made);
    else this.all.set(`${args.run}.${args.function}`, made);
    this.show();
  }

  async ask(kind) {
    const { run, step, fn } = this.page.place;
    const args = kind === "cost" ? { run, step } : { run, function: fn };
    const made = await runShown(this.job, this.source, kind, args, "Timing");
    if (made) this.addResult(kind, args, made);
  }

  show() {
    const row = this.page.step;
    if (!this.page.canRun || !row || row.level === "graph" || row.status === "failed") return fill(this.place);
    const { run, step, fn } = this.page.place;
    const pair = this.pairs.get(`${run}.${step}`);
    const all = this.all.get(`${run}.${fn}`);
    const button = (kind, text) => el("button", { type: "button", id: `ask-${kind}`, onclick: () => this.ask(kind) }, text);
    return fill(this.place, el("h3", {}, "Native cost"),
      pair ? pairPart(pair) : null,
      all ? this.bars(all) : null,
      pair || all ? null : el("p", { class: "job-why" }, "Compiles the function before and after the pass, and calls both in turn."),
      el("p", { class: "job-buttons" }, pair || row.status === "same" ? null : button("cost", "Time before and after"), all ? null : button("costs", "Time all passes")),
      this.job);
  }

  bars(all) {
    const most = Math.max(...all.stages.map((cost) => cost.high || 0), 1e-9);
    const items = all.stages.map((cost, at) => {
      const name = cost.step < 0 ? "as given" : this.page.run.steps[cost.step].name;
      const bar = el("span", { class: "cost-bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * (cost.median || 0)) / most}%`;
      const label = cost.step < 0 ? el("span", {}, name) : el("button", { type: "button", class: "link", onclick: () => this.page.moves.goStep(cost.step) }, name);
      const value = cost.message ? el("span", { class: "minus" }, cost.message) : el("span", { class: "cost-value" }, micros(cost.median), " ", change(all.stages[at - 1], cost, all.differs[at]));
      return el("li", { "aria-current": cost.step === this.page.place.step ? "true" : null }, label, value, el("span", { class: "cost-track" }, bar));
    });
    const more = all.more ? el("p", { class: "job-why" }, `and ${all.more} more stages`) : null;
    return el("div", {}, el("ol", { class: "cost-bars", "aria-label": "Median of one call after each pass" }, ...items), more, sizes(all));
  }
}

function change(before, after, differs) {
  if (!before?.median || !after.median) return null;
  const ratio = before.median / after.median;
  if (!differs) return el("small", { title: "No difference beyond noise" }, "no change");
  return el("b", { class: ratio > 1 ? "plus" : "minus" }, ratio > 1 ? `${times(ratio)} faster` : `${times(1 / ratio)} slower`);
}

const times = (ratio) => `${Number(ratio.toPrecision(2))}×`;

const sizes = (made) => (made.sizes ? el("p", { class: "job-why" }, `with ${made.sizes}`) : null);

function pairPart(pair) {
  const failed = pair.before.message || pair.after.message;
  if (failed) return el("p", { class: "verdict-text" }, pair.text);
  const cells = (name, cost) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, micros(cost.median)), el("td", {}, range(cost)));
  const calls = pair.after.calls > 1 ? `, each of ${pair.after.calls} calls` : "";
  return el("div", {}, el("p", { class: "verdict-text" }, el("b", {}, pair.text)),
    el("table", { class: "cost-table" },
      el("thead", {}, el("tr", {}, ...["", "median", "middle half"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, cells("before", pair.before), cells("after", pair.after))),
    el("p", { class: "job-why" }, `${pair.after.runs.toLocaleString("en")} measurements of each, in turn${calls}.`), sizes(pair));
}

// 1.2–1.4 µs, with the unit once if it is the same.
function range({ low, high }) {
  const [a, b] = [micros(low), micros(high)];
  return `${a.split(" ")[1] === b.split(" ")[1] ? a.split(" ")[0] : `${a} `}–${b}`;
}

export function micros(us) {
  if (us >= 1e6) return `${(us / 1e6).toFixed(2)} s`;
  if (us >= 1e3) return `${(us / 1e3).toFixed(2)} ms`;
  return us >= 10 ? `${us.toFixed(1)} µs` : us >= 1 ? `${us.toFixed(2)} µs` : `${(us * 1e3).toFixed(0)} ns`;
}
