// Two runs compared: what is equal in them, and what differs first.

import { el, fill, plural } from "../dom.js";
import { runTitle } from "../panels/pickers.js";

const COMPARED_AT_ONCE = 4;
const MOST_DIFFERENT = 200;

// Two files do, if the address names nothing of them and no pass failed: that would come first.
export function opensAsComparison({ runs, opened }, { run, step, show, beside, fn }) {
  return opened === 2 && runs.length === 2 && [run, step, show, beside, fn].every((part) => part === null)
    && runs.every((each) => each.steps.length && each.steps.every((row) => row.status !== "failed"));
}

// A card that fills itself, function by function, while the page can be used.
export function comparisonCard(page) {
  const { place, overview, source, run } = page;
  const other = overview.runs[place.beside];
  const title = runTitle(overview.runs, place.beside);
  const said = el("p", { class: "comparison-said", role: "status" }, "Comparing…");
  const body = el("div", { class: "comparison-body" });
  const names = [...new Set([...run.functions, ...other.functions].map((each) => each.name))];
  const known = (one, name) => one.functions.some((each) => each.name === name);
  const element = el("section", { class: "card comparison", "aria-labelledby": "comparison-title" },
    el("header", {}, el("h2", { id: "comparison-title" }, "Compared with ", el("b", {}, title))), said, body);
  const all = new Map();
  const show = () => {
    const rows = names.map((name) => all.get(name)).filter(Boolean);
    fill(said, rows.length < names.length ? `Comparing… ${rows.length} of ${names.length}` : summary(rows, page, title));
    fill(body, differencesTable(rows, page, title));
  };
  const compare = async () => {
    const waiting = [...names];
    const next = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const both = known(run, name) && known(other, name);
        all.set(name, { name, ...(both ? differenceOf(await source.beside(run.number, other.number, name)) : { only: known(run, name) ? "here" : title }) });
        if (page.place.beside !== other.number || !element.isConnected) return;
        show();
      }
    };
    try { await Promise.all(Array.from({ length: COMPARED_AT_ONCE }, next)); } catch (error) { fill(said, error.message); }
  };
  // It is on the page once this call has returned.
  setTimeout(compare);
  return element;
}

// What differs in the steps of one function: the first, how many, and those of one run only.
function differenceOf(pairs) {
  const common = pairs.filter((pair) => pair.left !== null && pair.right !== null);
  const different = common.filter((pair) => !pair.same);
  const last = common.at(-1);
  return { common: common.length, different: different.length, first: different[0]?.left ?? null, alone: pairs.length - common.length, sameEnd: Boolean(last?.same) };
}

const isEqual = (row) => !row.only && !row.different && !row.alone;

function summary(rows, page, title) {
  const equal = rows.filter(isEqual).length;
  const firsts = rows.filter((row) => typeof row.first === "number").sort((a, b) => a.first - b.first);
  const what = page.isModel ? `${equal} of ${plural(rows.length, "function")} equal after every pass` : equal ? "equal after every pass" : "";
  if (!firsts.length) return el("span", {}, equal === rows.length ? `Everything is equal: the IR after every pass is that of ${title}.` : `${what}${what ? "; " : ""}the IR after every common pass is the same.`);
  const { first, name } = firsts[0];
  return el("span", {}, what ? `${what}. ` : "", "What differs first: the IR after ", stepLink(first, page), page.isModel ? ` on ${page.labelOf(name)}.` : ".");
}

const stepLink = (step, page) => el("button", { type: "button", class: "link", onclick: () => page.moves.goStep(step) }, `${step} ${page.run.steps[step].name}`);

function differencesTable(rows, page, title) {
  const other = rows.filter((row) => !isEqual(row));
  if (!other.length) return null;
  other.sort((a, b) => (a.first ?? Infinity) - (b.first ?? Infinity));
  const line = (row) => el("tr", {}, el("th", { scope: "row" }, page.labelOf(row.name)),
    el("td", {}, row.only ? `only in ${row.only === "here" ? "this run" : row.only}` : row.first === null ? "none" : stepLink(row.first, page)),
    el("td", {}, row.only ? "" : `${row.different} of ${row.common}`),
    el("td", {}, row.alone ? plural(row.alone, "pass", "passes") : ""),
    el("td", {}, row.only ? "" : row.sameEnd ? "= same" : "≠ other"));
  return el("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "What differs" },
    el("table", { class: "memory-table" }, el("caption", { class: "visually-hidden" }, `Functions that are not equal to those of ${title}`),
      el("thead", {}, el("tr", {}, ...["Function", "Differs first after", "Passes that differ", "In one run only", "At the end"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...other.slice(0, MOST_DIFFERENT).map(line))));
}
