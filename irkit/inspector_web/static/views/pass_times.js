// The time of every pass as a table of bars.

import { el, milliseconds, plural } from "../dom.js";

// `steps` are those of one function, `all` those of the run.
export function timeTable({ steps, all, fn, chosen, slow, onStep, onOrder, chrome }) {
  const sum = (rows) => rows.reduce((total, row) => total + row.ms, 0);
  const [own, total] = [sum(steps), sum(all)];
  const most = Math.max(...steps.map((row) => row.ms), 1e-9);
  const rows = slow ? [...steps].sort((a, b) => b.ms - a.ms) : steps;
  const whole = steps.length === all.length ? "" : ` of ${milliseconds(total)} for all functions`;
  const order = el("button", { type: "button", id: "slowest", "aria-pressed": String(slow), title: "Slowest first (s)", onclick: onOrder }, "Slowest first");
  const link = el("a", { class: "button", id: "chrome", href: chrome, download: "passes.trace.json" }, "Chrome trace");
  return el("div", { class: "view-box" },
    el("div", { class: "time-head" }, el("p", {}, `${plural(steps.length, "pass", "passes")}${fn ? ` of ${fn}` : ""} took ${milliseconds(own)}${whole}. Verifying between them is not counted.`), order, link),
    el("table", { class: "times" },
      el("caption", { class: "visually-hidden" }, "Time of each pass"),
      el("thead", {}, el("tr", {}, ...["Step", "Pass", "Time", "Share", "Compared with the slowest"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, ...rows.map((row) => timeRow(row, { own, most, chosen, onStep })))));
}

function timeRow(row, { own, most, chosen, onStep }) {
  const bar = el("span", { class: "long-bar", "aria-hidden": "true" });
  bar.style.width = `${(100 * row.ms) / most}%`;
  const name = el("button", { type: "button", class: "link", "aria-current": row.index === chosen ? "true" : null, onclick: () => onStep(row.index) }, row.name);
  return el("tr", { class: row.status },
    el("td", {}, String(row.index)), el("th", { scope: "row" }, name, " ", el("small", {}, row.phase_name)),
    el("td", {}, milliseconds(row.ms)), el("td", {}, `${((100 * row.ms) / (own || 1)).toFixed(1)}\u00a0%`), el("td", {}, bar));
}
