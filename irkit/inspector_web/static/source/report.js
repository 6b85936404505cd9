// The data source of a report: the data in the file itself.

import { compareTexts } from "./myers.js";
import { asLines } from "../diff/rows.js";

export class ReportSource {
  canCompare = true;
  canRunJobs = false;
  canOpenEditor = false;

  constructor(data) {
    this.data = data;
    this.command = data.command;
    this.nativeViews = Object.keys(data.views.native).length ? ["code"] : [];
    this.texts = new Map();
    this.plain = [];
    this.files = [];
  }

  async status() { return { state: "ready", title: this.data.title, revision: 1, message: "", watching: false }; }
  reload() { throw new Error("A report cannot be opened again."); }
  overview() { return this.data.overview; }

  // The line numbers of a text, which the file has as differences.
  text(number) {
    if (!this.texts.has(number)) {
      let at = 0;
      this.texts.set(number, this.data.texts[number].map((ahead) => (at += ahead)));
    }
    return this.texts.get(number);
  }

  textOf(state) {
    const [run, step, side] = state.split(".");
    return this.data.stages[run][step][side === "b" ? 0 : 1];
  }

  // Verdicts on the steps of each run, if the report was made with them.
  verdicts() { return this.data.verdicts; }

  async kernels(run) { return this.data.kernels[run]; }

  async counts(run, fn) {
    const counts = Object.fromEntries(this.data.overview.runs[run].steps
      .filter((row) => row.function === fn && row.status === "changed")
      .map((row) => [row.index, [row.added ?? 0, row.removed ?? 0]]));
    return { counts, more: false };
  }

  async diff(left, right, names) {
    const [run, step, side] = right.split(".");
    const own = left === `${run}.${step}.b` && side === "a";
    const kept = own ? (names && this.data.renamed[run][step]) || this.data.diffs[run][step] : null;
    const note = names && !own && left !== right ? "A report ignores names between the two sides of one pass only." : "";
    const [before, after] = [this.text(this.textOf(left)), this.text(this.textOf(right))];
    const made = kept ?? compareTexts(before, after);
    return { ...made, note, left: before.length, right: after.length, html: this.data.html, left_lines: asLines(before), right_lines: asLines(after) };
  }

  async lines(state, from, to) {
    return this.text(this.textOf(state)).slice(from - 1, to).map((line) => this.data.html[line]);
  }

  async step(run, step) {
    const info = this.data.details[run][step];
    return { ...info, source: this.data.sources[info.name] ?? null };
  }

  async blame(state) {
    return this.data.blame[this.textOf(state)];
  }

  async line(state, line) {
    const number = this.textOf(state);
    const step = valueAt(this.data.blame[number], line);
    const chain = valueAt(this.data.origins[number], line);
    const run = state.split(".")[0];
    const name = step >= 0 ? this.data.overview.runs[run].steps[step].pass_text : "";
    const code = this.plainLine(this.text(number)[line - 1]).trim();
    return { line, function: "", code, step, step_name: name, origins: this.data.chains[chain] ?? [] };
  }

  // The nests before and after, with rows paired by kind, name and depth.
  async nest(left, right) {
    const [before, after] = [left, right].map((state) => this.data.views.nests[this.textOf(state)]);
    if (!before || !after) throw new Error("There is no loop nest here.");
    const numbers = new Map();
    const key = (number) => JSON.stringify(this.data.views.nest_rows[number].slice(0, 3));
    const keys = (kept) => kept.rows.map((number) => numbers.get(key(number)) ?? numbers.set(key(number), numbers.size).size - 1);
    const [old, now] = [nestRows(before, this.data.views.nest_rows), nestRows(after, this.data.views.nest_rows)];
    const rows = pairKeys(keys(before), keys(after)).map(([i, j]) => {
      if (j < 0) return { status: "removed", before: old[i] };
      if (i < 0) return { status: "added", after: now[j] };
      return { status: before.rows[i] === after.rows[j] ? "same" : "changed", before: old[i], after: now[j] };
    });
    return { function: after.function, rows };
  }

  // A file has each graph folded and with all folds open.
  async graph(state, opened = []) {
    const text = this.textOf(state);
    const found = (opened.length && this.data.views.open_graphs[text]) || this.data.views.graphs[text];
    if (!found) throw new Error("There is no graph here.");
    return found;
  }

  async native(state) {
    const found = this.data.views.native[this.textOf(state)];
    if (!found) throw new Error("This file has LLVM IR and assembly of the final stage only. irkit inspect shows those of every stage.");
    return found;
  }

  // Pair the steps of two runs on a function, as the server does.
  async beside(run, other, fn) {
    const numbers = new Map();
    const place = (row) => JSON.stringify([row.level, row.phase, row.name]);
    const [mine, theirs] = [run, other].map((each) => this.data.overview.runs[each].steps.filter((row) => row.function === fn));
    const keys = (rows) => rows.map((row) => numbers.get(place(row)) ?? numbers.set(place(row), numbers.size).size - 1);
    return pairKeys(keys(mine), keys(theirs)).map(([i, j]) => {
      const [a, b] = [mine[i]?.index ?? null, theirs[j]?.index ?? null];
      return { left: a, right: b, same: a !== null && b !== null && this.sameText(`${run}.${a}.a`, `${other}.${b}.a`) };
    });
  }

  sameText(left, right) {
    const [a, b] = [this.text(this.textOf(left)), this.text(this.textOf(right))];
    return a.length === b.length && a.every((line, at) => line === b[at]);
  }

  chromeTrace(run) {
    this.files[run] ??= URL.createObjectURL(new Blob([this.data.chrome[run]], { type: "application/json" }));
    return this.files[run];
  }

  plainLine(number) {
    if (this.plain[number] === undefined) {
      const parsed = new DOMParser().parseFromString(this.data.html[number], "text/html");
      this.plain[number] = parsed.body.textContent;
    }
    return this.plain[number];
  }

  async touching(run, fn, text) {
    const hit = new Map();
    const holds = (line) => {
      if (!hit.has(line)) hit.set(line, this.plainLine(line).includes(text));
      return hit.get(line);
    };
    return this.data.overview.runs[run].steps.filter((row) => {
      if (row.function !== fn || row.status !== "changed") return false;
      const [before, after] = this.data.stages[run][row.index].map((number) => this.text(number));
      return this.data.diffs[run][row.index].rows.some(([kind, left, right]) =>
        kind !== "=" && ((left && holds(before[left - 1])) || (right && holds(after[right - 1]))));
    }).map((row) => row.index);
  }

  async search(run, text, { regex, exact }) {
    if (!text) return { found: [] };
    let fits;
    if (regex) {
      let pattern;
      try { pattern = new RegExp(text, exact ? "" : "i"); } catch (error) { return { problem: `this is not a regular expression: ${error.message}` }; }
      fits = (line) => pattern.test(line);
    } else {
      const wanted = exact ? text : text.toLowerCase();
      fits = (line) => (exact ? line : line.toLowerCase()).includes(wanted);
    }
    const known = new Map();
    const holds = (line) => {
      if (!known.has(line)) known.set(line, fits(this.plainLine(line)));
      return known.get(line);
    };
    return { found: this.found(run, holds) };
  }

  found(run, holds) {
    const made = [];
    const seen = new Set();
    for (const row of this.data.overview.runs[run].steps) {
      const [before, after] = this.data.stages[run][row.index];
      for (const [number, step] of [[before, seen.has(row.function) ? null : -1], [after, row.status === "changed" ? row.index : null]]) {
        seen.add(row.function);
        if (step === null) continue;
        const lines = [];
        this.text(number).forEach((line, at) => { if (holds(line)) lines.push(at + 1); });
        if (lines.length) made.push({ step, function: row.function, count: lines.length, lines: lines.slice(0, 20), text: this.plainLine(this.text(number)[lines[0] - 1]).trim().slice(0, 200) });
      }
    }
    return made;
  }
}

const NEST = ["kind", "name", "depth", "mark", "extent", "trips", "read", "written", "flops"];

function nestRows(kept, facts) {
  let line = 0;
  return kept.rows.map((number, at) => ({ ...Object.fromEntries(NEST.map((name, place) => [name, facts[number][place]])), line: (line += kept.lines[at]) }));
}

// Pair the numbers of two lists, in order; -1 without a counterpart, those of the left first.
function pairKeys(left, right) {
  const made = [];
  let alone = [];
  const flush = () => { made.push(...alone); alone = []; };
  for (const [kind, i, j, count] of compareTexts(left, right).rows) {
    if (kind === "=") {
      flush();
      for (let at = 0; at < count; at++) made.push([i - 1 + at, j - 1 + at]);
    } else {
      if (i) made.push([i - 1, -1]);
      if (j) alone.push([-1, j - 1]);
    }
  }
  flush();
  return made;
}

// The value of a line in a list of [value, number of lines].
function valueAt(runs, line) {
  for (const [value, count] of runs) {
    if (line <= count) return value;
    line -= count;
  }
  return -1;
}

export async function readReport(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
