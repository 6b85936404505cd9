// Verdicts: check whether passes keep the meaning, show the result in the list and for the chosen
// pass, and find the guilty pass.

import { byId, el, fill, plural } from "../dom.js";
import { BADGES, badgeOf, WRONG } from "./badge.js";
import { followJob, knownJobs, runShown, JobProgress } from "./job.js";

const UNKNOWN = { status: "unknown", text: "What this pass changed is not known: the dump has no IR from before it, or none after it." };
const COUNTED = { exact: "same", close: "same up to rounding", differs: "with other results", races: "with races", outside: "out of bounds", stopped: "stopped at their limit", failed: "that do not run", unknown: "not known" };

export class Verdicts {
  constructor(page, place) {
    this.page = page;
    this.source = page.source;
    this.place = place;
    this.job = el("div", { class: "job-slot" });
    this.clear();
    byId("check-function").addEventListener("click", () => this.askAll(true));
    byId("check-run").addEventListener("click", () => this.askAll(false));
    byId("find-guilty").addEventListener("click", () => this.askGuilty());
  }

  clear() {
    this.known = new Map();
    this.guilty = new Map();
    fill(byId("check-said"));
    fill(byId("check-job"));
  }

  // Get the results of earlier jobs, and follow those that are still running.
  async restore() {
    this.clear();
    if (this.source.verdicts) for (const [run, checked] of this.source.verdicts().entries()) this.take(run, checked);
    if (!this.source.canRunJobs) return;
    for (const kind of ["verdicts", "guilty"]) {
      for (const info of await knownJobs(this.source, kind)) {
        if (info.state === "done") this.addResult(kind, info.arguments, (await this.source.job(info.id)).result);
        else if (info.state === "working" || info.state === "queued") this.follow(kind, info);
      }
    }
  }

  async follow(kind, info) {
    const progress = new JobProgress(kind === "guilty" ? "Looking for the guilty pass" : "Checking");
    fill(byId("check-job"), progress.element);
    const made = await followJob(this.source, info.id, { onProgress: progress.show, signal: progress.signal }).catch(() => null);
    fill(byId("check-job"));
    if (made) this.addResult(kind, info.arguments, made);
  }

  addResult(kind, args, made) {
    if (kind === "verdicts") this.take(args.run, made);
    else this.takeGuilty(args, made);
  }

  of(run, step) {
    const row = this.page.overview?.runs[run]?.steps[step];
    // A dump of another compiler need not say what a pass changed; then a remark says so.
    if (row?.level === "text" && row.status === "same" && row.remarks) return UNKNOWN;
    return this.known.get(`${run}.${step}`);
  }

  take(run, checked) {
    for (const each of checked.verdicts) {
      const old = this.of(run, each.step);
      // A quick check does not replace the verdict of a careful one.
      if (old?.careful && !checked.careful && !WRONG.has(each.status)) continue;
      this.known.set(`${run}.${each.step}`, { ...each, careful: checked.careful });
    }
    this.refresh();
    if (this.page.place.show === "graph" && this.page.place.colour === "verdict") this.page.showStep();
  }

  refresh() {
    const { page } = this;
    if (!page.overview?.runs.length) return;
    const { run } = page.place;
    const own = page.run.steps.filter((row) => this.of(run, row.index));
    page.passes.setVerdicts(new Map(own.map((row) => [row.index, this.of(run, row.index)])), badgeOf);
    this.showSummary(own);
    this.show();
    page.showBand();
    if (page.step && !page.isOverview) page.showSegments();
    page.overviewPage.refresh();
  }

  showSummary(own) {
    const { run } = this.page.place;
    const several = this.page.run.functions.length > 1;
    byId("check-function").hidden = !several;
    byId("check-run").firstChild.textContent = several ? "Check all passes of all kernels" : "Check all passes";
    const guilty = this.guilty.get(run);
    const parts = guilty ? [this.guiltyPart(guilty)] : [];
    if (own.length) parts.unshift(this.countsPart(own));
    const box = byId("check-said");
    // Verdicts come one by one: who is on a link of it stays there.
    const at = [...box.querySelectorAll("button")].indexOf(document.activeElement);
    const { id } = box.querySelectorAll("button")[at] ?? {};
    fill(box, ...parts);
    if (at >= 0) (id ? byId(id) : box.querySelectorAll("button")[at])?.focus();
  }

  countsPart(own) {
    const { run } = this.page.place;
    const counts = {};
    for (const row of own) { const { status } = this.of(run, row.index); counts[status] = (counts[status] ?? 0) + 1; }
    const said = Object.keys(BADGES).filter((status) => counts[status] && status !== "idle")
      .map((status) => el("span", { class: `badge ${status}` }, `${BADGES[status][0]} ${counts[status]} ${COUNTED[status]}`));
    const wrong = this.guilty.get(run)?.step !== undefined ? [] : own.filter((row) => WRONG.has(this.of(run, row.index).status)).slice(0, 3);
    const links = wrong.map((row) => el("button", { type: "button", class: "link", onclick: () => this.page.moves.goStep(row.index) }, `${row.name}${row.function && this.page.run.functions.length > 1 ? ` (${row.function})` : ""}`));
    return el("p", { class: "check-counts" }, ...(said.length ? said : ["Nothing changed, so there is nothing to check."]), ...links);
  }

  guiltyPart(guilty) {
    const link = guilty.step === null || guilty.step === undefined ? null
      : el("button", { type: "button", class: "link", id: "go-guilty", onclick: () => { this.page.keep({ from: null, show: null }); this.page.moves.goStep(guilty.step); } }, "See its difference");
    return el("p", { class: guilty.step === undefined ? "innocent" : "guilty" }, guilty.text, " ", link);
  }

  takeGuilty(args, made) {
    this.guilty.set(args.run, made);
    this.page.view.showRewrite();
    this.take(args.run, { verdicts: [...(made.checked ?? []), ...(made.verdict ? [made.verdict] : [])], careful: false });
  }

  async askAll(ownFunction) {
    const { run, fn } = this.page.place;
    const args = ownFunction ? { run, function: fn } : { run };
    const made = await runShown(byId("check-job"), this.source, "verdicts", args, "Checking");
    if (made) this.take(run, made);
  }

  async askStep(careful) {
    const { run, step } = this.page.place;
    const made = await runShown(this.job, this.source, "verdicts", { run, step, careful }, careful ? "Checking carefully" : "Checking");
    if (made) this.take(run, made);
  }

  async askGuilty() {
    const { run } = this.page.place;
    const made = await runShown(byId("check-job"), this.source, "guilty", { run }, "Looking for the guilty pass");
    if (made) this.takeGuilty({ run }, made);
  }

  // The guilty rewrite, for the difference: its note, and the lines that it made, without spaces.
  rewriteNote() {
    const { place } = this.page;
    const guilty = this.guilty.get(place.run);
    if (guilty?.step !== place.step || !guilty.rewrites?.length || place.from) return null;
    const lines = (guilty.diff ?? []).filter((line) => /^\+(?!\+\+ )/.test(line)).map((line) => line.slice(1).replace(/\s+/g, "")).filter(Boolean);
    const [first] = guilty.rewrites;
    const element = el("div", { class: "rewrite", role: "note" },
      el("p", {}, el("b", {}, `Rewrite ${first.number} of ${guilty.of}`), " is the guilty one: ", el("code", {}, first.rule), first.place ? el("span", { class: "where" }, ` ${first.place}`) : null),
      guilty.verdict ? el("p", {}, guilty.verdict.text) : null);
    return { lines, element };
  }

  // The number of the first guilty rewrite of the chosen step, 0 if none is known.
  guiltyRewrite() {
    const guilty = this.guilty.get(this.page.place.run);
    return guilty?.step === this.page.place.step ? guilty.rewrites?.[0]?.number ?? 0 : 0;
  }

  // The panel of the chosen pass.
  show() {
    const { page } = this;
    const row = page.step;
    const known = row && this.of(page.place.run, row.index);
    fill(byId("step-verdict"), known && known.status !== "idle" ? badgeOf(known) : null);
    if (!row || (!page.canRun && !this.of(page.place.run, row.index))) return fill(this.place);
    return fill(this.place, el("h3", {}, "Does it mean the same?"), ...this.content(row), this.job);
  }

  content(row) {
    const verdict = this.of(this.page.place.run, row.index);
    if (verdict === UNKNOWN) return [el("p", {}, verdict.text)];
    if (row.status === "failed") return [el("p", {}, "The pass failed, so there is nothing to compare.")];
    if (row.status === "same") return [el("p", {}, "The pass changed nothing, so there is nothing to check.")];
    const button = (text, careful, id) => el("button", { type: "button", id, onclick: () => this.askStep(careful) }, text);
    const buttons = this.page.canRun ? el("p", { class: "job-buttons" },
      verdict ? null : button("Check this pass", false, "check-step"),
      verdict?.careful ? null : button(verdict ? "Check it more carefully" : "Carefully", true, "check-careful")) : null;
    if (!verdict) {
      return [el("p", { class: "job-why" }, "Runs the program before and after the pass on generated inputs, and compares the results."), buttons];
    }
    return [el("p", {}, badgeOf(verdict)), el("p", { class: "verdict-text" }, verdict.text), numbersTable(verdict), guiltyRewrites(this.guilty.get(this.page.place.run), row), buttons];
  }
}

// Null stands for infinity, which JSON lacks.
function number(value = 0) {
  if (value === null) return "∞";
  return value >= 1e6 ? value.toExponential(1) : Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

function numbersTable(verdict) {
  const rows = [];
  if (["close", "differs"].includes(verdict.status)) {
    rows.push(["Absolute error", number(verdict.abs)], ["Relative error", number(verdict.rel)], ["Error in ULP", number(verdict.ulp)]);
  }
  if (verdict.status === "differs") {
    rows.push(["Wrong elements", plural(verdict.wrong, "element")], ["First wrong", `${verdict.buffer}[${verdict.at.join(", ")}]`],
      ["Before the pass", verdict.expected], ["After it", verdict.found]);
  }
  if (verdict.guilty) rows.push(["At fault", verdict.guilty]);
  if (verdict.basis) rows.push(["Rests on", verdict.basis === "proved" ? "a proof" : "runs"]);
  if (verdict.inputs) rows.push(["Inputs", verdict.inputs]);
  if (verdict.how) rows.push(["Run as", verdict.how]);
  if (!rows.length) return null;
  return el("table", {}, el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
}

function guiltyRewrites(guilty, row) {
  if (!guilty || guilty.step !== row.index) return null;
  const items = (guilty.rewrites ?? []).map((each) => el("li", {}, `rewrite ${each.number} of ${guilty.of}: `, el("code", {}, each.rule), each.place ? ` (${each.place})` : ""));
  const diff = guilty.diff?.length ? el("pre", { tabindex: 0, class: "guilty-diff" }, guilty.diff.join("\n")) : null;
  return el("div", { class: "guilty-part" }, el("h3", {}, items.length ? "It is this rewrite" : "Which rewrite it is"),
    items.length ? el("ul", {}, ...items) : null, guilty.note ? el("p", {}, guilty.note) : null, diff);
}
