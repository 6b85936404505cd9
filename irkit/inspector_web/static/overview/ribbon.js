// The ribbon: the passes in their phases, as bars whose height is time and whose colour is what they did.

import { el, fill, milliseconds, plural } from "../dom.js";
import { isWrong } from "../jobs/badge.js";

const TALLEST = 24;

// Passes in their phases, in order. Steps of several kernels with the same pass are one bar; a pass
// that runs twice in a phase is two.
export function phasesOf(steps) {
  const phases = new Map();
  const seen = new Map();
  for (const row of steps) {
    const key = `${row.level} ${row.phase}`;
    if (!phases.has(key)) phases.set(key, { key, level: row.level, phase: row.phase, name: row.phase_name, passes: new Map() });
    const turn = `${row.function}/${key}/${row.name}`;
    seen.set(turn, (seen.get(turn) ?? 0) + 1);
    const place = `${row.name} ${seen.get(turn)}`;
    const { passes } = phases.get(key);
    if (!passes.has(place)) passes.set(place, { name: row.name, rows: [], ms: 0, phase: phases.get(key) });
    const bar = passes.get(place);
    bar.rows.push(row);
    bar.ms += row.ms;
  }
  return [...phases.values()].map((each) => ({ ...each, passes: [...each.passes.values()] }));
}

export function phaseTitle({ level, phase, name }) {
  const named = name.charAt(0).toUpperCase() + name.slice(1);
  if (level === "graph") return named || "Graph";
  return `${phase} · ${named}`;
}

// `verdictOf` gives what is known of a step; `onStep` goes to one.
export function showRibbon(box, steps, { chosen, verdictOf, onStep }) {
  const phases = phasesOf(steps);
  const most = Math.max(...phases.flatMap((each) => each.passes.map((bar) => bar.ms)), 1e-6);
  fill(box, ...phases.map((phase) => phaseBox(phase, { most, chosen, verdictOf, onStep })));
  // Where none is chosen, Tab still stops at the bars once.
  const first = box.querySelector(".tick[tabindex='0']") ?? box.querySelector(".tick");
  if (first) first.tabIndex = 0;
}

function phaseBox(phase, given) {
  const changed = phase.passes.filter((bar) => bar.rows.some((row) => row.status !== "same")).length;
  const ms = phase.passes.reduce((sum, bar) => sum + bar.ms, 0);
  return el("div", { class: "phase", role: "group", "aria-label": phaseTitle(phase) },
    el("div", { class: "bars" }, ...phase.passes.map((bar) => tick(bar, given))),
    el("div", { class: "phase-name" }, phaseTitle(phase), el("small", {}, `${changed} of ${phase.passes.length} changed${ms ? ` · ${milliseconds(ms)}` : ""}`)));
}

function tick(bar, { most, chosen, verdictOf, onStep }) {
  const failed = bar.rows.find((row) => row.status === "failed");
  const wrong = bar.rows.find((row) => isWrong(verdictOf(row)));
  const changed = bar.rows.filter((row) => row.status === "changed");
  const state = failed ? "failed" : wrong ? "wrong" : changed.length ? "changed" : "same";
  const told = { failed: "failed", wrong: "other results", changed: bar.rows.length > 1 ? `changed ${plural(changed.length, "kernel")}` : "changed", same: "changed nothing" }[state];
  const height = el("i", {});
  // A dump of another compiler need not have times.
  const share = bar.ms ? bar.ms / most : 0.2;
  height.style.height = `${Math.max(3, Math.sqrt(share) * TALLEST)}px`;
  const target = failed ?? wrong ?? bar.rows.find((row) => row.index === chosen) ?? changed[0] ?? bar.rows[0];
  const isChosen = bar.rows.some((row) => row.index === chosen);
  return el("button", { type: "button", class: `tick ${state}`, tabindex: isChosen ? 0 : -1, "aria-current": isChosen ? "true" : null,
    title: `${bar.name}: ${told}${bar.ms ? `, ${milliseconds(bar.ms)}` : ""}`, "aria-label": `${bar.name}: ${told}`, "data-step": target.index, onclick: () => onStep(target.index), onkeydown: move }, height);
}

// Arrow keys go along the bars, which are one stop for Tab.
function move(event) {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const all = [...event.target.closest("#ribbon").querySelectorAll(".tick")];
  const next = all[all.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
