// The overview of a run: its kernels, what each pass did to each of them, and where the time went.

import { byId, el, fill, milliseconds, plural } from "../dom.js";
import { isWrong } from "../jobs/badge.js";
import { comparisonCard } from "./comparison.js";
import { phasesOf } from "./ribbon.js";
import { labelsOf } from "./labels.js";
import { showRoofline } from "../views/cost.js";
import { KernelTable } from "./kernel_table.js";
import { Matrix } from "./matrix.js";

const MOST_SLOW = 8;

export class OverviewPage {
  constructor(page) {
    this.page = page;
    this.box = byId("overview");
    this.shown = 0;
    this.parts = [];
  }

  async show() {
    const mine = ++this.shown;
    const { run } = this.page;
    if (this.run !== run) fill(this.box, el("p", { class: "empty", role: "status" }, "Reading the kernels…"));
    const infos = await this.page.kernels();
    if (mine !== this.shown) return;
    this.run = run;
    this.draw(infos);
    this.count(mine);
  }

  draw(infos) {
    const { run, moves } = this.page;
    const known = new Map(infos.map((each) => [each.name, each]));
    const loops = run.steps.filter((row) => row.level !== "graph" && row.function);
    const names = [...new Set(loops.map((row) => row.function))];
    const labels = labelsOf(names.map((name) => known.get(name) ?? { name }));
    this.kernels = names.map((name) => {
      const rows = loops.filter((row) => row.function === name);
      const info = { operators: [], nodes: [], shape: "", calls: 0, flops: 0, bytes: 0, ...known.get(name), name };
      return { ...info, rows, label: labels.get(name), title: [name, ...info.nodes].join(", "), ms: rows.reduce((sum, row) => sum + row.ms, 0) };
    });
    const given = { verdictOf: (row) => this.page.verdictOf(row), onStep: (step) => moves.goStep(step), onKernel: (name) => moves.goKernel(name), title: this.page.isText ? "Passes by function" : "Passes by kernel" };
    this.matrix = new Matrix(this.kernels, this.page.isText ? whatChanged(loops) : loops, given);
    this.table = new KernelTable(this.kernels, given);
    this.alarm = el("div", { class: "alarm-place" });
    const cards = el("div", { class: `cards${names.length && !this.page.isText ? "" : " single"}` }, this.alarmPart(),
      this.page.place.beside === null ? null : comparisonCard(this.page),
      el("div", { class: "column" }, names.length ? this.matrix.element : null, run.steps.some((row) => row.ms) ? slowest(run.steps, given) : null),
      el("div", { class: "column" }, names.length && !this.page.isText ? this.table.element : null, names.length && this.page.canRun ? this.roofline(labels) : null, versions(run)));
    this.cards = cards;
    fill(this.box, cards);
  }

  roofline(labels) {
    const box = el("section", { class: "card", "aria-label": "Roofline" });
    showRoofline(box, this.page.source, { run: this.page.place.run }, { labels, onKernel: (name) => this.page.moves.goKernel(name), onMade: ({ kernels }) => this.table.setTimes(kernels) });
    return box;
  }

  // The first step that is wrong, in words, with a way to it.
  alarmPart() {
    const { page } = this;
    const wrong = page.run.steps.find((row) => row.status === "failed" || isWrong(page.verdictOf(row)));
    if (!wrong) return null;
    const label = this.kernels.find((each) => each.name === wrong.function)?.label ?? (wrong.function || "the module");
    const why = wrong.status === "failed" ? wrong.message : page.verdictOf(wrong).text;
    return el("section", { class: "alarm", "aria-label": "What is wrong" },
      el("p", {}, el("b", {}, wrong.name), wrong.status === "failed" ? " failed on " : " changes what ", el("b", {}, label), wrong.status === "failed" ? ": " : " computes: ", why),
      el("button", { type: "button", onclick: () => page.moves.goStep(wrong.index) }, "Show"));
  }

  // Verdicts have come.
  refresh() {
    if (!this.matrix || this.box.hidden) return;
    this.matrix.repaint();
    this.table.show();
    this.cards.querySelector(".alarm")?.remove();
    const alarm = this.alarmPart();
    if (alarm) this.cards.prepend(alarm);
  }

  // Count the lines that each step changed, kernel by kernel, while the page can be used.
  async count(mine) {
    const { page } = this;
    for (const { name } of this.kernels) {
      for (;;) {
        const { counts, more } = await page.source.counts(this.run.number, name).catch(() => ({ counts: {}, more: false }));
        if (mine !== this.shown || this.box.hidden) return;
        this.matrix.setCounts(counts);
        if (!more) break;
      }
    }
  }
}

// Other compilers have a hundred passes that change nothing: those are left out of the matrix.
function whatChanged(steps) {
  return phasesOf(steps).flatMap((phase) => phase.passes).filter((bar) => bar.rows.some((row) => row.status !== "same")).flatMap((bar) => bar.rows);
}

function slowest(steps, { onStep }) {
  const bars = phasesOf(steps).flatMap((phase) => phase.passes);
  const byName = new Map();
  for (const { name, rows, ms } of bars) {
    const each = byName.get(name) ?? { name, rows: [], ms: 0 };
    byName.set(name, { ...each, rows: [...each.rows, ...rows], ms: each.ms + ms });
  }
  const order = [...byName.values()].sort((a, b) => b.ms - a.ms).slice(0, MOST_SLOW);
  const most = order[0]?.ms || 1;
  const items = order.map(({ name, rows, ms }) => {
    const bar = el("i", {});
    bar.style.width = `${(100 * ms) / most}%`;
    const longest = rows.reduce((best, row) => (row.ms > best.ms ? row : best));
    return el("li", {}, el("button", { type: "button", class: "link", title: `Its longest run: ${longest.function || "the module"}`, onclick: () => onStep(longest.index) }, name),
      el("span", { class: "track", "aria-hidden": "true" }, bar), el("span", { class: "amount" }, milliseconds(ms)));
  });
  const total = steps.reduce((sum, row) => sum + row.ms, 0);
  return el("section", { class: "card slowest-card", "aria-labelledby": "slowest-title" },
    el("header", {}, el("h2", { id: "slowest-title" }, "Slowest passes"), el("small", {}, `${milliseconds(total)} in ${plural(steps.length, "step")}`)), el("ul", { class: "slowest" }, ...items));
}

function versions(run) {
  const made = Object.entries(run.versions ?? {});
  return made.length ? el("p", { class: "facts-line" }, ...made.map(([name, version]) => el("span", {}, `${name} ${version}`))) : null;
}
