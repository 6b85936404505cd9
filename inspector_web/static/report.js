// Where the page gets its answers in a file of its own: from what stands in the file.

import { compareTexts } from "./compare.js";
import { asLines } from "./rows.js";

export class ReportSource {
  canCompare = true;
  canView = false;
  canWork = false;

  constructor(data) {
    this.data = data;
    this.texts = new Map();
    this.plain = [];
    this.files = [];
  }

  async status() { return { state: "ready", title: this.data.title, revision: 1, message: "", watching: false }; }
  reload() { throw new Error("A report is what it is."); }
  overview() { return this.data.overview; }

  // The numbers of the lines of a text, which stand in the file as differences.
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

  async counts(run, fn) {
    const counts = Object.fromEntries(this.data.overview.runs[run].steps
      .filter((row) => row.function === fn && row.status === "changed")
      .map((row) => [row.index, [row.added ?? 0, row.removed ?? 0]]));
    return { counts, more: false };
  }

  async diff(left, right) {
    const [run, step, side] = right.split(".");
    const kept = left === `${run}.${step}.b` && side === "a" ? this.data.diffs[run][step] : null;
    const [before, after] = [this.text(this.textOf(left)), this.text(this.textOf(right))];
    const made = kept ?? compareTexts(before, after);
    return { ...made, left: before.length, right: after.length, html: this.data.html, left_lines: asLines(before), right_lines: asLines(after) };
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
    const step = spread(this.data.blame[number], line);
    const chain = spread(this.data.origins[number], line);
    const run = state.split(".")[0];
    const name = step >= 0 ? this.data.overview.runs[run].steps[step].pass_text : "";
    const code = this.plainLine(this.text(number)[line - 1]).trim();
    return { line, function: "", code, step, step_name: name, origins: this.data.chains[chain] ?? [] };
  }

  // Put the steps on a function of two runs beside each other, as the server does.
  async beside(run, other, fn) {
    const numbers = new Map();
    const place = (row) => JSON.stringify([row.level, row.phase, row.name]);
    const [mine, theirs] = [run, other].map((each) => this.data.overview.runs[each].steps.filter((row) => row.function === fn));
    const keys = (rows) => rows.map((row) => numbers.get(place(row)) ?? numbers.set(place(row), numbers.size).size - 1);
    const made = [];
    for (const [kind, left, right, count] of compareTexts(keys(mine), keys(theirs)).rows) {
      for (let at = 0; at < (kind === "=" ? count : 1); at++) {
        const [a, b] = [left ? mine[left - 1 + at].index : null, right ? theirs[right - 1 + at].index : null];
        if (kind === "=") made.push({ left: a, right: b, same: this.sameText(`${run}.${a}.a`, `${other}.${b}.a`) });
        else made.push(...[{ left: a, right: null, same: false }, { left: null, right: b, same: false }].filter((pair) => pair.left !== null || pair.right !== null));
      }
    }
    return made;
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
      try { pattern = new RegExp(text, exact ? "" : "i"); } catch (error) { return { problem: `this is no regular expression: ${error.message}` }; }
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
        if (lines.length) made.push({ step, function: row.function, count: lines.length, lines: lines.slice(0, 20) });
      }
    }
    return made;
  }
}

// Find what stands on a line in runs of [value, how many lines].
function spread(runs, line) {
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
