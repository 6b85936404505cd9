// Moves: each changes the place and updates the page.

import { byId } from "../dom.js";

export class Moves {
  constructor(page) {
    this.page = page;
  }

  goStep(step) {
    if (step === null || step < 0) return;
    const fn = this.page.run.steps[step].function;
    const other = fn !== this.page.place.fn;
    const { show } = this.page.place;
    const away = show === "overview" || show === "rerun" || show === "edit";
    this.page.keep({ step, fn, line: null, llvm: null, rewrite: null, ...(show === "graph" ? {} : { box: null }), show: away ? null : show }, true);
    this.page.showTab("diff");
    if (other || away) this.page.showAll(); else this.page.showStep();
  }

  // Another view of the chosen step, or a line of it.
  goPlace(changes) {
    this.page.keep(changes, true);
    if (changes.line) this.page.openDetails();
    this.page.showStep(Boolean(changes.line));
  }

  // Go to the first step that changed a kernel.
  goKernel(name) {
    const own = this.page.run.steps.filter((row) => row.function === name);
    const row = own.find((each) => each.status === "failed") ?? own.find((each) => each.status === "changed") ?? own[0];
    if (!row) return;
    this.page.keep({ from: null, show: null });
    this.goStep(row.index);
  }

  // The last graph that shows a kernel as the group of operators that it is made of.
  goGraph(name) {
    const { run } = this.page;
    const rows = run.steps.filter((row) => row.level === "graph");
    // Lowering takes the whole module, and leaves calls of kernels.
    const lowering = rows.find((each) => !each.function)?.index ?? Infinity;
    const row = rows.findLast((each) => each.function && each.index < lowering) ?? rows.at(-1);
    const value = run.infos?.get(name)?.values?.[0];
    if (!row || !value) return;
    this.page.keep({ from: null, opened: "*", box: value });
    this.page.keep({ show: "graph" });
    this.goStep(row.index);
  }

  goLine(line, scroll = false) {
    this.page.keep({ line });
    this.page.openDetails();
    if (scroll) { this.page.showTab("diff"); this.page.view.mark(line, true); }
    this.page.showLine();
  }

  // Go to a line by number: of the IR after the pass, or with an L in front, of the IR before it.
  goNumber(text) {
    const given = /^\s*([LR]?)\s*([\d,]{1,12})\s*$/i.exec(text);
    const { answer } = this.page.view;
    if (!given || !answer) return;
    const side = given[1].toUpperCase() || "R";
    const line = Math.max(1, Math.min(Number(given[2].replaceAll(",", "")), side === "L" ? answer.left : answer.right));
    byId("line").value = `${side === "L" ? "L" : ""}${line}`;
    this.page.keep({ line: `${side}${line}`, whole: true, show: null });
    this.page.showStep(true);
    byId("view").focus();
  }

  goFound(hit) {
    const own = this.page.run.steps.filter((row) => row.function === hit.function);
    const first = hit.step < 0 ? own[0] : this.page.run.steps[hit.step];
    if (!first) return;
    this.page.keep({ step: first.index, fn: first.function, line: `${hit.step < 0 ? "L" : "R"}${hit.lines[0]}`, whole: true, from: null, show: null }, true);
    this.page.showTab("diff");
    this.page.showAll();
  }

  goFunction(fn) {
    this.page.place.step = null;
    this.page.place.line = this.page.place.from = null;
    this.page.place.fn = fn;
    this.page.settle();
    this.page.showAll();
  }

  goRun(run) {
    const { place } = this.page;
    Object.assign(place, { run, beside: place.beside === run ? null : place.beside });
    this.goFunction(place.fn);
  }

  // Put another run beside this one, or none.
  putBeside(run) {
    this.page.keep({ beside: run, from: null, line: null }, true);
    this.page.showAll();
  }

  nextBeside() {
    const { place, overview } = this.page;
    const choices = [null, ...overview.runs.map((run) => run.number).filter((run) => run !== place.run)];
    this.putBeside(choices[(choices.indexOf(place.beside) + 1) % choices.length]);
  }

  // Go to the counterpart of the step; the runs swap places.
  goPartner() {
    const { place, beside } = this.page;
    const partner = beside.partner(place.step);
    if (place.beside === null || !partner) return;
    this.page.keep({ run: place.beside, beside: place.run, step: partner.step, from: null, line: null }, true);
    this.page.showAll();
  }

  goOther(step) {
    this.page.keep({ run: this.page.place.beside, beside: this.page.place.run, step, from: null, line: null }, true);
    this.page.showAll();
  }

  flip(name) {
    this.page.keep({ [name]: !this.page.place[name] });
    if (name === "hide") { byId("hide").checked = this.page.place.hide; this.page.showPasses(); } else this.page.showStep();
  }

  flipInline() {
    this.page.keep({ view: this.page.isInline ? "side" : "inline" });
    this.page.showStep();
  }

  compare(from) {
    this.page.keep({ from, line: null }, true);
    this.page.showStep();
  }

  goShow(show) {
    const was = this.page.isOverview;
    this.page.keep({ show: show || null }, show === "overview" || was);
    if (was || show === "overview") this.page.showAll();
    else this.page.showStep(Boolean(this.page.place.line));
  }
}
