// The table of kernels: what they came from, how much they do, how long they took, what is known of them.

import { el, fill, milliseconds, plural } from "../dom.js";
import { BADGES, isWrong } from "../jobs/badge.js";

const COLUMNS = [
  { key: "label", title: "Kernel", said: "by name" }, { key: "flops", title: "MFLOP", said: "by work" }, { key: "bytes", title: "Memory", said: "by memory" },
  { key: "ms", title: "Compile time", said: "by compile time" }, { key: "micros", title: "Native time", said: "by native time" }, { key: "verdict", title: "Verdict", said: "by verdict" },
];

export class KernelTable {
  constructor(kernels, { verdictOf, onKernel, onStep }) {
    Object.assign(this, { kernels, verdictOf, onKernel, onStep, by: "flops", down: true });
    this.head = el("thead", {});
    this.body = el("tbody", {});
    this.sorted = el("small", {});
    this.element = el("section", { class: "card", "aria-labelledby": "kernels-title" },
      el("header", {}, el("h2", { id: "kernels-title" }, "Kernels"), this.sorted),
      el("div", { class: "kernels-box", tabindex: 0, role: "region", "aria-label": "Kernels" }, el("table", { class: "kernels" }, this.head, this.body)));
    this.show();
  }

  // Native times, once they are measured.
  setTimes(times) {
    const known = new Map(times.map((each) => [each.function, each]));
    for (const kernel of this.kernels) kernel.micros = known.get(kernel.name)?.micros;
    this.isTimed = true;
    this.show();
  }

  get columns() { return COLUMNS.filter(({ key }) => key !== "micros" || this.isTimed); }

  sortBy(key) {
    this.down = this.by === key ? !this.down : key !== "label";
    this.by = key;
    this.show();
    this.head.querySelector(`[data-key="${key}"]`)?.focus();
  }

  value(kernel) {
    if (this.by === "verdict") return this.summary(kernel).rank;
    return kernel[this.by] ?? -1;
  }

  show() {
    const heads = this.columns.map(({ key, title }) => el("th", { scope: "col", "aria-sort": this.by === key ? (this.down ? "descending" : "ascending") : "none" },
      el("button", { type: "button", "data-key": key, onclick: () => this.sortBy(key) }, title)));
    fill(this.head, el("tr", {}, ...heads));
    const order = (a, b) => { const [x, y] = [this.value(a), this.value(b)]; return typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y; };
    const rows = [...this.kernels].sort((a, b) => (this.down ? -order(a, b) : order(a, b)));
    fill(this.body, ...rows.map((each) => this.row(each)));
    this.sorted.textContent = `${this.kernels.length} · ${COLUMNS.find(({ key }) => key === this.by).said}`;
  }

  row(kernel) {
    const name = el("button", { type: "button", class: "link", title: kernel.title, onclick: () => this.onKernel(kernel.name) }, kernel.label);
    const made = el("tr", { "data-kernel": kernel.name },
      el("th", { scope: "row" }, name, el("small", {}, [kernel.operators.join(" → "), kernel.shape, kernel.calls > 1 ? `${kernel.calls} calls` : ""].filter(Boolean).join(" · "))),
      el("td", {}, mega(kernel.flops)), el("td", {}, memory(kernel.bytes)), el("td", {}, milliseconds(kernel.ms)), this.isTimed ? el("td", {}, kernel.micros ? milliseconds(kernel.micros / 1000) : "–") : null, el("td", {}, this.verdict(kernel)));
    made.addEventListener("click", (event) => { if (!event.target.closest("button")) this.onKernel(kernel.name); });
    return made;
  }

  // The worst of what is known of the steps of a kernel.
  summary({ rows }) {
    const failed = rows.find((row) => row.status === "failed");
    if (failed) return { rank: 4, row: failed, text: `✕ ${failed.name} failed` };
    const wrong = rows.find((row) => isWrong(this.verdictOf(row)));
    if (wrong) return { rank: 3, row: wrong, text: `${BADGES[this.verdictOf(wrong).status][0]} ${BADGES[this.verdictOf(wrong).status][1]} after ${wrong.name}` };
    const changed = rows.filter((row) => row.status === "changed");
    const known = changed.map((row) => this.verdictOf(row)?.status);
    if (!changed.length) return { rank: 0, text: "nothing to check", quiet: true };
    if (known.every((each) => !each)) return { rank: 1, text: "not checked", quiet: true };
    if (known.some((each) => !each || each === "unknown")) return { rank: 2, status: "unknown", text: `? ${plural(known.filter((each) => !each || each === "unknown").length, "step")} not known` };
    const close = known.includes("close");
    return { rank: 0.5, status: close ? "close" : "exact", text: `${close ? "≈ same up to rounding" : "✓ same"} · ${basisOf(changed.map((row) => this.verdictOf(row)))}` };
  }

  verdict(kernel) {
    const { row, text, status, quiet } = this.summary(kernel);
    if (row) return el("button", { type: "button", class: "link", onclick: () => this.onStep(row.index) }, el("span", { class: "minus" }, text));
    if (quiet) return el("span", { class: "quiet" }, text);
    return el("span", { class: `badge ${status}` }, text);
  }
}

// How many verdicts are proved, and how many tested.
function basisOf(verdicts) {
  const proved = verdicts.filter((each) => each.basis === "proved").length;
  const tested = verdicts.length - proved;
  return proved ? [`${proved} proved`, tested ? `${tested} tested` : ""].filter(Boolean).join(", ") : plural(tested, "step");
}

function mega(count) {
  if (count === null || count === undefined) return "?";
  if (!count) return "0";
  const many = count / 1e6;
  return many >= 10 ? many.toFixed(0) : many >= 0.1 ? many.toFixed(1) : "< 0.1";
}

function memory(bytes) {
  if (bytes === null || bytes === undefined) return "?";
  const at = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].find(([, size]) => bytes >= size);
  return at ? `${(bytes / at[1]).toPrecision(bytes / at[1] >= 100 ? 3 : 2)} ${at[0]}` : `${bytes} B`;
}
