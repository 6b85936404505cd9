// The list of passes, by phase.

import { byId, el, fill, milliseconds, plural, revealSoon } from "../dom.js";

// A dump of another compiler does not say what the pass changed; a remark says so.
const isUnknown = (row) => row.level === "text" && Boolean(row.remarks);

const MARKS = { changed: ["●", "changed"], same: ["○", "changed nothing"], failed: ["✕", "failed"] };

export class PassList {
  constructor(onChoose, onOther) {
    this.onChoose = onChoose;
    this.onOther = onOther;
    this.list = byId("pass-list");
    this.items = new Map();
    this.rows = [];
    this.opened = new Set();
    this.list.addEventListener("click", (event) => {
      const item = event.target.closest("[data-step]");
      if (item) this.onChoose(Number(item.dataset.step));
      const other = event.target.closest("[data-other]");
      if (other) this.onOther(Number(other.dataset.other));
    });
  }

  // Show the rows that pass the filters. `touching` is a set of steps, or null for all. `marks` draws
  // how a step compares with the other run; `others` are steps of that run only, by the step that
  // they follow. `tail` goes below the last row.
  show(all, { hide, filter, touching, step, marks = null, others = new Map(), tail = null }) {
    this.others = filter || touching ? new Map() : others;
    // Runs of passes that changed nothing are one row, unless somebody looks for a pass.
    this.folds = !marks && !filter && !touching && !hide;
    this.chosen = step;
    const fits = named(filter ?? "");
    this.rows = all.filter((row) =>
      (!hide || row.status !== "same" || row.index === step) && fits(row) && (!touching || touching.has(row.index)));
    const most = Math.max(...all.map((row) => row.ms), 0.001);
    this.items = new Map(this.rows.map((row) => [row.index, passItem(row, most, marks)]));
    fill(this.list, ...this.grouped(), tail);
    const left = all.length - this.rows.length;
    const changed = all.filter((row) => row.status !== "same").length;
    const failed = all.filter((row) => row.status === "failed").length;
    byId("pass-count").textContent = left ? `${this.rows.length} of ${all.length}` : `${changed} of ${all.length} changed${failed ? ", 1 failed" : ""}`;
    this.choose(step);
  }

  grouped() {
    if (!this.rows.length) return [el("p", { class: "empty" }, "No pass matches. Clear the filters to see all.")];
    const groups = [];
    let key = null;
    const only = (step) => (this.others.get(step) ?? []).map((row) => otherItem(row));
    for (const row of this.rows) {
      const own = `${row.level} ${row.phase}`;
      if (own !== key) {
        key = own;
        const label = row.level === "graph" ? `Graph ${row.phase} · ${row.phase_name}` : `${row.phase} · ${row.phase_name}`;
        const id = `phase-${groups.length}`;
        groups.push(el("section", { "aria-labelledby": id }, el("h2", { id }, label), el("ul", {}, ...(groups.length ? [] : only(-1)))));
      }
      const list = groups[groups.length - 1].lastChild;
      (this.foldFor(row, list) ?? list).append(this.items.get(row.index), ...only(row.index));
    }
    return groups;
  }

  // The list inside a fold that a row belongs to, if it and a neighbour changed nothing.
  foldFor(row, list) {
    if (!this.folds || row.status !== "same" || isUnknown(row)) return null;
    const last = list.lastChild?.firstChild;
    if (last?.matches(".folded")) {
      const count = Number(last.dataset.count) + 1;
      last.dataset.count = count;
      last.firstChild.textContent = `${count} passes changed nothing`;
      last.open ||= row.index === this.chosen;
      return last.lastChild;
    }
    const at = this.rows.indexOf(row);
    const next = this.rows[at + 1];
    if (next?.status !== "same" || isUnknown(next) || next.phase !== row.phase || next.level !== row.level) return null;
    const fold = el("details", { class: "folded", "data-count": 1 }, el("summary", {}, ""), el("ul", {}));
    fold.open = this.opened.has(row.index) || row.index === this.chosen;
    fold.addEventListener("toggle", () => { if (fold.open) this.opened.add(row.index); else this.opened.delete(row.index); });
    list.append(el("li", {}, fold));
    return fold.lastChild;
  }

  setCounts(counts) {
    for (const [step, [added, removed]] of Object.entries(counts)) {
      const place = this.items.get(Number(step))?.querySelector(".delta");
      if (!place) continue;
      fill(place, el("span", { class: "plus" }, `+${added}`), " ", el("span", { class: "minus" }, `−${removed}`));
      place.setAttribute("aria-label", `${plural(added, "line")} added, ${removed} removed`);
    }
  }

  // Show verdicts below the names; `made` draws one.
  setVerdicts(verdicts, made) {
    for (const [step, item] of this.items) {
      const known = verdicts.get(step);
      item.querySelector(".badge")?.remove();
      if (known && known.status !== "idle") item.querySelector(".name").append(" ", made(known));
    }
  }

  choose(step) {
    this.list.querySelector('[aria-current="true"]')?.removeAttribute("aria-current");
    const item = this.items.get(step)?.firstChild;
    if (!item) return;
    item.setAttribute("aria-current", "true");
    const fold = item.closest(".folded");
    if (fold) fold.open = true;
    revealSoon(item);
  }

  // The step that is `ahead` rows after one, among those shown.
  after(step, ahead) {
    const rows = this.rows.filter((row) => !this.items.get(row.index).closest(".folded:not([open])"));
    if (!rows.length) return null;
    const at = rows.findIndex((row) => row.index === step);
    if (at < 0) return (rows.find((row) => row.index > step) ?? rows[0]).index;
    return rows[Math.max(0, Math.min(rows.length - 1, at + ahead))].index;
  }
}

// A filter of rows by part of the name, or by phase and name as in "phase 2 unroll".
function named(filter) {
  const [, phase, rest] = /^\s*phase\s*(\d+)\s*(.*)$/i.exec(filter) ?? [null, "", filter];
  const wanted = rest.trim().toLowerCase();
  return (row) => (!phase || row.phase === Number(phase)) && row.pass_text.toLowerCase().includes(wanted);
}

function passItem(row, most, marks) {
  const [sign, said] = MARKS[row.status];
  const options = row.pass_text.startsWith(row.name) ? row.pass_text.slice(row.name.length) : "";
  const bar = el("span", { class: "time-bar", "aria-hidden": "true" });
  bar.style.width = `${Math.max(2, (100 * row.ms) / most)}%`;
  const time = `${row.ms ? milliseconds(row.ms) : row.pass_text}${typeof row.before === "number" ? `; ${row.before} nodes before, ${row.after} after` : ""}${row.remarks ? `; ${plural(row.remarks, "remark")}` : ""}`;
  const button = el("button", { type: "button", "data-step": row.index, class: `pass ${row.status}`, title: time },
    el("span", { class: "mark" }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "visually-hidden" }, `${said}: `)),
    el("span", { class: "name" }, marks ? marks(row.index) : null, row.name, options ? el("small", {}, options) : null),
    el("span", { class: "delta" }), row.status === "same" || !row.ms ? null : bar);
  return el("li", {}, button);
}

// A step that only the other run has.
function otherItem({ row, title }) {
  return el("li", {}, el("button", { type: "button", "data-other": row.index, class: "pass other" },
    el("span", { class: "mark", "aria-hidden": "true" }, "◇"), el("span", { class: "name" }, row.name, el("small", {}, `only in ${title}`))));
}
