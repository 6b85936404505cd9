// The passes of a run, to switch off, move, change options, and run again as a new run.

import { byId, el, errorParts, fill } from "../dom.js";
import { runShown } from "./job.js";

export class Rerun {
  constructor(page) {
    this.page = page;
    this.plans = new Map();
  }

  // Show the passes on a function of a run; changes to them stay while the page is open.
  async show(run, fn) {
    const { view, source } = this.page;
    const key = `${run} ${fn}`;
    if (this.key === key && this.box?.isConnected) return;
    view.showMessage("empty", el("p", {}, "Loading the passes…"));
    const mine = view.shown;
    try {
      if (!this.plans.has(key)) this.plans.set(key, withDefaults(await source.plan(run, fn)));
    } catch (error) {
      if (mine === view.shown) view.showMessage("error", ...errorParts(error));
      return;
    }
    if (mine !== view.shown) return;
    Object.assign(this, { key, run, fn, plan: this.plans.get(key) });
    this.build();
    fill(view.view, this.box);
  }

  build() {
    this.list = el("div", { class: "plan", onclick: (event) => this.click(event), onchange: (event) => this.change(event), onkeydown: (event) => this.press(event) });
    this.said = el("p", { class: "plan-said", role: "status" });
    this.status = el("div", { class: "plan-status" });
    this.go = el("button", { type: "button", class: "primary", onclick: () => this.runAgain() }, "Run again");
    this.reset = el("button", { type: "button", onclick: () => this.clear() }, "Reset");
    const what = this.plan.whole ? "All functions of this run, from the start" : `Function ${this.fn}, from the start`;
    this.box = el("div", { class: "view-box rerun" },
      el("div", { class: "plan-top" }, el("h2", {}, what), this.said, this.adder(), this.reset, this.go, this.status), this.list);
    this.draw();
  }

  adder() {
    const names = this.plan.known.map((each) => each.name).sort();
    const choice = el("select", { "aria-label": "Pass to add" }, el("option", { value: "" }, "Add a pass…"), ...names.map((name) => el("option", { value: name }, name)));
    choice.addEventListener("change", () => { if (choice.value) this.add(choice.value); choice.value = ""; });
    return choice;
  }

  draw() {
    fill(this.list, ...this.plan.phases.map((phase) => this.phase(phase)));
    this.showEdits();
  }

  phase({ level, number, name }) {
    const own = this.plan.now.filter((each) => each.level === level && each.phase === number);
    const id = `plan-${level}-${number}`;
    const title = `${level === "graph" ? "Graph" : "Phase"} ${number} ${name}`;
    const rows = own.length ? el("ol", {}, ...own.map((each) => this.row(each))) : el("p", { class: "empty-phase" }, "No passes");
    return el("section", { "aria-labelledby": id }, el("h3", { id }, title), rows);
  }

  row(each) {
    const at = this.plan.now.indexOf(each);
    const then = this.plan.before.get(each);
    const info = this.plan.infos.get(each.name);
    const mark = !then ? "added" : isSame(then, each) ? "" : "edited";
    const phases = this.plan.phases.filter((phase) => phase.level === each.level);
    const chosen = phases.findIndex((phase) => phase.number === each.phase);
    const first = this.neighbour(at, -1) < 0 && chosen === 0;
    const last = this.neighbour(at, 1) < 0 && chosen === phases.length - 1;
    const button = (act, label, sign, off) => el("button", { type: "button", "data-act": act, "aria-label": `${label} ${each.name}`, title: `${label} (Alt ${act === "up" ? "↑" : "↓"})`, disabled: off }, sign);
    return el("li", { "data-at": at, class: [each.on ? "" : "off", mark].filter(Boolean).join(" ") || null },
      el("label", { class: "plan-name" }, el("input", { type: "checkbox", role: "switch", "data-act": "on", checked: each.on }), el("span", { title: info?.doc ?? null }, each.name)),
      el("span", { class: "plan-mark" }, mark),
      el("select", { "data-act": "phase", "aria-label": `Phase of ${each.name}` }, ...phases.map((phase) => el("option", { value: phase.number, selected: phase.number === each.phase }, `${phase.number} ${phase.name}`))),
      button("up", "Move up", "↑", first), button("down", "Move down", "↓", last),
      optionsOf(each, info));
  }

  // The pass before or after one in its phase.
  neighbour(at, ahead) {
    const { now } = this.plan;
    for (let i = at + ahead; i >= 0 && i < now.length; i += ahead) {
      if (now[i].level === now[at].level && now[i].phase === now[at].phase) return i;
    }
    return -1;
  }

  move(at, ahead) {
    const { now, phases } = this.plan;
    const each = now[at];
    const beside = this.neighbour(at, ahead);
    if (beside >= 0) {
      now.splice(at, 1);
      now.splice(beside, 0, each);
      return each;
    }
    const own = phases.filter((phase) => phase.level === each.level);
    const next = own[own.findIndex((phase) => phase.number === each.phase) + ahead];
    if (next) this.moveTo(at, next.number, ahead > 0);
    return each;
  }

  // Move to the end of another phase, or to its beginning.
  moveTo(at, phase, isFirst) {
    const { now } = this.plan;
    const [each] = now.splice(at, 1);
    each.phase = phase;
    const own = now.map((other, i) => [other, i]).filter(([other]) => other.level === each.level && other.phase === phase).map(([, i]) => i);
    const place = own.length ? (isFirst ? own[0] : own[own.length - 1] + 1) : at;
    now.splice(place, 0, each);
  }

  add(name) {
    const info = this.plan.infos.get(name);
    const level = info.takes === "GraphFunc" ? "graph" : info.takes === "PrimFunc" ? "loop" : this.plan.phases[0].level;
    const phases = this.plan.phases.filter((phase) => phase.level === level);
    const phase = phases.findLast((each) => this.plan.now.some((other) => other.level === level && other.phase === each.number)) ?? phases[0];
    const each = { level, phase: phase.number, name, options: {}, on: true };
    this.plan.now.push(each);
    this.draw();
    this.focus(each, "on");
  }

  focus(each, act) {
    const row = this.list.querySelector(`[data-at="${this.plan.now.indexOf(each)}"]`);
    const wanted = row?.querySelector(`[data-act="${act}"]:not(:disabled)`) ?? row?.querySelector("input");
    wanted?.focus();
    row?.scrollIntoView({ block: "nearest" });
  }

  click(event) {
    const act = event.target.dataset?.act;
    const at = Number(event.target.closest("[data-at]")?.dataset.at);
    if (act === "up" || act === "down") this.moved(at, act);
  }

  moved(at, act, focused = act) {
    const each = this.move(at, act === "up" ? -1 : 1);
    this.draw();
    this.focus(each, focused);
  }

  press(event) {
    const row = event.target.closest("[data-at]");
    if (!row || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    this.moved(Number(row.dataset.at), event.key === "ArrowUp" ? "up" : "down", event.target.dataset.act ?? "on");
  }

  change(event) {
    const { act, option } = event.target.dataset;  // An option has both.
    const at = Number(event.target.closest("[data-at]").dataset.at);
    const each = this.plan.now[at];
    if (act === "on") each.on = event.target.checked;
    else if (act === "phase") this.moveTo(at, Number(event.target.value), false);
    else if (option) setOption(each, this.plan.infos.get(each.name), option, event.target);
    else return;
    const open = event.target.closest("details")?.open;
    this.draw();
    if (open) this.list.querySelector(`[data-at="${this.plan.now.indexOf(each)}"] details`).open = true;
    this.focus(each, act);
  }

  get edits() {
    const { now, before, given } = this.plan;
    return now.filter((each) => !before.has(each) || !isSame(before.get(each), each)).length || (now.some((each, at) => each !== given[at]) ? 1 : 0);
  }

  showEdits() {
    const { edits } = this;
    const off = this.plan.now.filter((each) => !each.on).length;
    this.said.textContent = [edits ? `${edits} changed` : "Nothing changed yet", off ? `${off} off` : ""].filter(Boolean).join(", ");
    this.reset.disabled = !edits;
  }

  clear() {
    restore(this.plan);
    this.draw();
    this.go.focus();
  }

  async runAgain() {
    const { run, fn, page } = this;
    const passes = this.plan.now.map((each) => ({ ...each }));
    this.go.disabled = true;
    const made = await runShown(this.status, page.source, "rerun", { run, function: fn, passes }, "Running the passes");
    this.go.disabled = false;
    if (made) await this.arrive(made, run, fn);
  }

  // Go to the end of the new run, with the old run beside it.
  async arrive(made, run, fn) {
    const { page } = this;
    await page.refresh();
    const own = page.overview.runs[made.run].steps.filter((row) => row.function === fn);
    const step = own.length ? own[own.length - 1].index : null;
    page.keep({ run: made.run, beside: made.failed ? null : run, fn, step, from: null, line: null, show: null }, true);
    page.settle();
    await page.showAll();
    byId("diff").focus();
  }
}

function withDefaults(plan) {
  const filled = plan.passes.map((each) => ({ options: {}, on: true, ...each }));
  const made = { ...plan, given: filled, infos: new Map(plan.known.map((info) => [info.name, info])) };
  restore(made);
  return made;
}

// Reset to the passes of the run; `before` maps each to its original.
function restore(plan) {
  plan.originals ??= plan.given.map((each) => ({ ...each, options: { ...each.options } }));
  plan.given = plan.originals.map((each) => ({ ...each, options: { ...each.options } }));
  plan.now = [...plan.given];
  plan.before = new Map(plan.given.map((each, at) => [each, plan.originals[at]]));
}

function isSame(a, b) {
  return a.on === b.on && a.phase === b.phase && JSON.stringify(Object.entries(a.options).sort()) === JSON.stringify(Object.entries(b.options).sort());
}

function optionsOf(each, info) {
  if (!info?.options.length) return null;
  const set = Object.keys(each.options).length;
  const summary = info.options.map((option) => `${option.name}=${each.options[option.name] ?? option.default}`).join(", ");
  return el("details", { class: "plan-options", open: set > 0 }, el("summary", { class: set ? "set" : null }, summary),
    ...info.options.map((option) => field(each, option)));
}

function field(each, option) {
  const value = each.options[option.name] ?? option.default;
  const shared = { "data-option": option.name, "data-act": `option-${option.name}`, "aria-label": option.name, "aria-description": option.help || null };
  const input = option.type === "bool" ? el("input", { ...shared, type: "checkbox", checked: value === "true" })
    : el("input", { ...shared, type: option.type === "int" ? "number" : "text", value, spellcheck: "false", required: true });
  const usual = option.name in each.options ? ` (default ${option.default})` : "";
  return el("label", { class: "plan-field" }, el("span", {}, option.name, el("small", {}, ` ${option.type}${usual}`)), input,
    option.help ? el("small", { class: "plan-help" }, option.help.replaceAll("``", "")) : null);
}

// Only options that differ from their default are sent.
function setOption(each, info, name, input) {
  const usual = info.options.find((option) => option.name === name).default;
  const value = input.type === "checkbox" ? String(input.checked) : input.value.trim();
  if (value === usual || value === "") delete each.options[name];
  else each.options[name] = value;
}
