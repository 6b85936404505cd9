// The page: puts its parts together. The address alone determines what is shown.

import { Answers } from "./diff/answers.js";
import { RunJobs } from "./jobs/run_jobs.js";
import { Beside, pairMark, pairNote } from "./panels/beside.js";
import { connect } from "./navigation/controls.js";
import { Edit } from "./jobs/edit.js";
import { Details } from "./panels/details.js";
import { DiffView } from "./diff/diff_view.js";
import { byId, el, fill, plural, revealSoon } from "./dom.js";
import { keepPlace, missingParts } from "./navigation/keep_place.js";
import { Moves } from "./navigation/moves.js";
import { PassList } from "./panels/pass_list.js";
import { readPlace, showPlace } from "./navigation/place.js";
import { Rerun } from "./jobs/rerun.js";
import { Palette } from "./navigation/palette.js";
import { closeMenus, startMenus, startSplitters } from "./navigation/menus.js";
import { labelsOf } from "./overview/labels.js";
import { opensAsComparison } from "./overview/comparison.js";
import { OverviewPage } from "./overview/overview.js";
import { showRibbon } from "./overview/ribbon.js";
import { showCrumbs } from "./navigation/crumbs.js";
import { fillFunctions, fillRuns, fillStages, runTitle, stageName } from "./panels/pickers.js";
import { startTheme } from "./theme.js";
import { editorButton, startEditor } from "./editor.js";
import { showOther, viewsOf } from "./views/views.js";
import { Unavailable } from "./jobs/unavailable.js";
import { takeFiles } from "./jobs/upload.js";
import { Waiting } from "./waiting.js";

class Page {
  constructor(source) {
    this.source = source;
    this.place = readPlace(location.hash);
    this.moves = new Moves(this);
    this.waiting = new Waiting(source, this);
    this.passes = new PassList((step) => this.moves.goStep(step), (step) => this.moves.goOther(step));
    this.beside = new Beside(source);
    this.answers = new Answers(this);
    this.view = new DiffView(source, { answers: this.answers, onLine: (line) => this.moves.goLine(line), onChange: () => this.showChange() });
    this.details = new Details({ kernels: () => [...(this.run.infos?.values() ?? [])], chosen: () => this.run.infos?.get(this.place.fn), labelOf: (name) => this.labelOf(name), onKernel: (name) => this.moves.goKernel(name), onGraph: (name) => this.moves.goGraph(name), editor: (line) => editorButton(this.source, this.place.run, this.place.step, line), onLine: (line) => this.moves.goLine(line, true), onStep: (step) => this.moves.goStep(step) });
    this.unavailable = new Unavailable(this);
    this.runJobs = new RunJobs(this);
    this.rerun = new Rerun(this);
    this.edit = new Edit(this);
    this.overviewPage = new OverviewPage(this);
    this.palette = new Palette(source, {
      place: () => this.place,
      entries: () => this.entries(),
      nameOf: (step) => this.nameOf(step),
      onFound: (hit) => this.moves.goFound(hit),
      onChange: (text, regex, exact) => this.keep({ text, regex, exact }),
    });
  }

  // Controls work before there is anything to show; then they only change the place.
  get ready() { return Boolean(this.overview?.runs[this.place.run]?.steps.length); }
  get run() { return this.overview.runs[this.place.run]; }
  get steps() { return this.run.steps.filter((row) => row.function === this.place.fn); }
  get step() { return this.run.steps[this.place.step]; }

  nameOf(step) { return step < 0 ? "given" : this.run.steps[step].name; }

  verdictOf(row) { return this.runJobs.verdicts.of(this.place.run, row.index); }

  // A run of several kernels, or with a graph, opens on the overview.
  get isModel() { return this.run.functions.length > 1 || this.run.steps.some((row) => row.level === "graph"); }
  get isOverview() { return this.place.show === "overview"; }

  // Another compiler made the run, so its IR is only text.
  get isText() { return Boolean(this.overview?.runs[this.place.run]?.steps.some((row) => row.level === "text")); }
  get canRun() { return this.source.canRunJobs && !this.isText; }

  // Change the place without drawing anything.
  keep(changes, isNew = false) {
    Object.assign(this.place, changes);
    showPlace(this.place, isNew);
  }

  async begin() {
    startTheme();
    startEditor(this.source);
    startMenus();
    startSplitters();
    connect(this);
    if (this.source.canRunJobs) takeFiles(this);
    await this.waiting.poll();
    this.waiting.watch();
  }

  // `stale` if the files could not be read again, so that older runs are shown.
  async load(message, stale = false) {
    byId("body").classList.toggle("stale", stale);
    const old = this.overview;
    this.overview = await this.source.overview();
    if (old) Object.assign(this.place, keepPlace(old, this.overview, this.place));
    const problem = message ? el("p", { class: "note problem", role: "alert" }, message) : null;
    byId("problem")?.remove();
    if (problem) { problem.id = "problem"; byId("body").before(problem); }
    this.beside.forget();
    this.answers.forget();
    if (!old) this.checkLink();
    this.settle(!old);
    if (!this.run.steps.length) {
      this.passes.show([], {}); this.view.showMessage("empty", el("p", {}, "No pass ran in this trace, so there is nothing to show."));
      return;
    }
    await Promise.all([this.showAll(), this.runJobs.restore()]);
  }

  // Runs were added.
  async refresh() {
    this.overview = await this.source.overview();
    this.beside.forget();
  }

  // Say which parts of the address do not exist here.
  checkLink() {
    const missing = missingParts(this.overview, this.place);
    byId("bad-link")?.remove();
    if (missing.length) byId("body").before(el("p", { class: "note", role: "alert", id: "bad-link" }, `This address names ${missing.join(" and ")}, which the opened file does not have. Here is what it has.`));
  }

  // Replace parts of the place that do not exist.
  settle(isNew = false) {
    const runs = this.overview.runs;
    if (isNew && opensAsComparison(this.overview, this.place)) Object.assign(this.place, { beside: 1, show: "overview" });
    if (this.place.run === null || this.place.run >= runs.length) this.place.run = 0;
    if (this.place.beside === this.place.run || this.place.beside >= runs.length) this.place.beside = null;
    const names = this.run.functions.map((each) => each.name);
    const row = this.place.step === null ? undefined : this.step;
    if (this.place.step === null && !this.place.show && this.isModel) this.place.show = "overview";
    if (row) this.place.fn = row.function;
    else if (this.place.fn === null || !names.includes(this.place.fn)) this.place.fn = names[0] ?? "";
    if (!row && this.run.steps.length) {
      const own = this.steps;
      this.place.step = (own.find((each) => each.status === "failed") ?? own.find((each) => each.status === "changed") ?? own[0]).index;
    }
    if (this.place.from && !stageName(this.overview, this.place.from)) this.place.from = null;
    showPlace(this.place, false);
  }

  async showAll() {
    this.answers.expect();
    fillRuns(this.overview.runs, this.place);
    fillFunctions(this.run, this.place.fn);
    if (this.isOverview || !this.ready) this.showFrame();
    byId("filter").value = this.place.filter ?? "";
    byId("touches").value = this.place.touches ?? "";
    byId("hide").checked = this.place.hide;
    byId("search").value = this.place.text ?? "";
    byId("regex").checked = this.place.regex;
    byId("case").checked = this.place.exact;
    this.showPanes();
    await this.beside.load(this.place).catch(() => this.keep({ beside: null }));
    if (this.isModel) this.kernels().then(() => showCrumbs(this));
    if (this.isOverview) { await Promise.all([this.showPasses(), this.overviewPage.show()]); return; }
    await Promise.all([this.showPasses(), this.showStep(Boolean(this.place.line))]);
    // Last, because it compares steps that are not shown yet.
    this.showCounts();
  }

  // The kernels of the run, asked for once.
  kernels() {
    const { run } = this;
    run.kernels ??= this.source.kernels(run.number).then((infos) => { run.labels = labelsOf(infos); run.infos = new Map(infos.map((each) => [each.name, each])); return infos; }).catch(() => []);
    return run.kernels;
  }

  // Where a kernel comes from, in the user's words.
  originText() {
    const info = this.run.infos?.get(this.place.fn);
    if (!info?.operators?.length) return this.place.fn;
    return [info.operators.join(" → "), this.labelOf(info.name), info.shape, info.nodes?.length ? `from ${info.nodes.slice(0, 4).join(", ")}` : ""].filter(Boolean).join(" · ");
  }

  labelOf(name) { return this.run.labels?.get(name) ?? (name || "the module"); }

  // What stands around every view: where one is, and the phases.
  showFrame() {
    const { isOverview } = this;
    byId("body").dataset.view = isOverview ? "overview" : "step";
    byId("overview").hidden = !isOverview;
    byId("view-menu").hidden = byId("list-menu").hidden = isOverview;
    this.unavailable.mark();
    showCrumbs(this);
    this.showBand();
  }

  showBand() {
    const { isOverview, place } = this;
    byId("band").hidden = !this.run.steps.length;
    showRibbon(byId("ribbon"), isOverview ? this.run.steps : this.steps, { chosen: isOverview ? null : place.step, verdictOf: (row) => this.verdictOf(row), onStep: (step) => this.moves.goStep(step) });
  }

  // What the palette offers by name.
  entries() {
    if (!this.ready) return [];
    const kernels = this.run.functions.length > 1 ? this.run.functions.map(({ name, changed }) => ({ group: "Kernels", text: this.labelOf(name), hint: `${name} · ${plural(changed, "change")}`, go: () => this.moves.goKernel(name) })) : [];
    const passes = this.steps.map((row) => ({ group: `Passes${this.place.fn ? ` of ${this.place.fn}` : ""}`, text: row.name, hint: row.status === "same" ? "changed nothing" : row.status, go: () => this.moves.goStep(row.index) }));
    const commands = this.commands.map(({ key, text, go }) => ({ group: "Commands", text, hint: key, go }));
    return [...passes, ...kernels, ...commands];
  }

  async showCounts() {
    const { run, fn } = this.place;
    for (;;) {
      const { counts, more } = await this.source.counts(run, fn).catch(() => ({ counts: {}, more: false }));
      if (run !== this.place.run || fn !== this.place.fn) return;
      this.counts = { run, fn, counts };
      this.passes.setCounts(counts);
      if (!more) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async showPasses() {
    if (!this.ready) return;
    const { run, fn, touches } = this.place;
    let touching = null;
    const wanted = () => touches === this.place.touches && fn === this.place.fn;
    if (touches) touching = new Set(await this.source.touching(run, fn, touches, wanted).catch(() => []));
    if (!wanted()) return;
    this.passes.show(this.steps, { ...this.place, touching, ...this.pairing(), tail: this.runJobs.tail() });
    this.runJobs.verdicts.refresh();
    if (this.counts?.run === run && this.counts.fn === fn) this.passes.setCounts(this.counts.counts);
  }

  // What the list shows about the run beside this one, if there is one.
  pairing() {
    const { beside, run } = this.place;
    byId("partner").disabled = beside === null;
    byId("pair-note").hidden = beside === null;
    if (beside === null) return {};
    const title = runTitle(this.overview.runs, beside);
    pairNote(byId("pair-note"), this.beside, this.overview.runs[run], title, (step) => this.moves.goStep(step));
    const others = new Map();
    let after = -1;
    for (const { left, right } of this.beside.pairs) {
      if (left !== null) after = left;
      else others.set(after, [...(others.get(after) ?? []), { row: this.overview.runs[beside].steps[right], title }]);
    }
    return { marks: (step) => pairMark(this.beside, step, title), others };
  }

  // The stage of the other run that corresponds to the chosen step.
  get besideState() {
    const { beside, fn } = this.place;
    // What was edited by hand is compared with what stood there before.
    if (beside === null || this.step.name === "(edit)") return null;
    const partner = this.beside.partner(this.place.step);
    if (partner) return `${beside}.${partner.step}.a`;
    const first = this.overview.runs[beside].steps.find((row) => row.function === fn);
    return first ? `${beside}.${first.index}.b` : null;
  }

  states() {
    const { run, step, from } = this.place;
    const side = this.step.status === "failed" ? "b" : "a";
    return [from ?? this.besideState ?? `${run}.${step}.b`, `${run}.${step}.${side}`];
  }

  // Choose the next line, or the previous one.
  goRow(ahead) {
    const line = this.view.nextLine(ahead, this.place.line);
    if (line) this.moves.goLine(line, true);
  }

  async showStep(scroll = false) {
    if (!this.ready) return;
    const { run, step } = this.place;
    if (this.isOverview) return;
    this.answers.expect();
    if (this.step.status === "failed" || (this.isText && this.step.remarks)) this.openDetails();
    this.showFrame();
    this.passes.choose(step);
    fillStages(this.overview, this.place, this.source.canCompare, this.besideState && stageName(this.overview, this.besideState));
    byId("to").textContent = this.step.pass_text;
    byId("to").setAttribute("aria-expanded", String(Boolean(this.place.details)));
    for (const name of ["names", "blame", "whole", "wrap"]) byId(name).setAttribute("aria-pressed", String(Boolean(this.place[name])));
    byId("inline").setAttribute("aria-pressed", String(this.isInline));
    const [left, right] = this.states();
    const total = this.run.steps.reduce((sum, row) => sum + row.ms, 0);
    const shown = this.showView(left, right, scroll);
    this.source.step(run, step).then(
      (info) => { if (step === this.place.step) this.details.showStep(this.step, info, total); },
      (error) => this.details.showError(error));
    // Where a line comes from needs the IR, whose decoding would hold up the lines themselves.
    if (!this.place.line) this.showLine();
    this.runJobs.show();
    await shown;
    if (this.place.line) this.showLine();
    this.answers.prepareAround(step);
  }

  get shows() { return viewsOf(this); }

  // The buttons of the views that there are; verdicts can add one. Return the chosen view.
  showSegments() {
    const shows = this.shows;
    const show = shows.includes(this.place.show ?? "") ? this.place.show ?? "" : "";
    byId("shows").hidden = shows.length < 2 || show === "rerun" || show === "edit";
    for (const button of byId("shows").children) {
      // The list of passes ends with LLVM’s own.
      button.hidden = !shows.includes(button.dataset.show) || (button.dataset.show === "llvm-passes" && show !== "llvm-passes");
      button.setAttribute("aria-pressed", String(button.dataset.show === show));
    }
    revealSoon(byId("shows").querySelector("[aria-pressed=true]"));
    return show;
  }

  async showView(left, right, scroll) {
    if (this.isModel) await this.kernels();
    const show = this.showSegments();
    byId("diff").dataset.show = show || "difference";
    if (!show) return this.view.show(left, right, this.viewOptions(scroll));
    if (show === "rerun") return this.rerun.show(this.place.run, this.place.fn);
    if (show === "edit") return this.edit.show(this.place.run, this.place.step);
    return showOther(show, this.source, this.view, this.viewGiven(left, right));
  }

  viewGiven(left, right) {
    const { run, fn, line, slow, step } = this.place;
    return {
      left, right, line, onLine: (chosen) => this.moves.goLine(chosen), onKernel: (name) => this.moves.goKernel(name),
      steps: this.steps, all: this.run.steps, fn, chosen: step, slow, panes: this.place.panes, above: this.originText(), onPanes: (panes) => { this.keep({ panes }); this.showStep(); }, chrome: this.source.chromeTrace(run),
      run, step, name: this.step.name, rewrite: this.place.rewrite, onRewrite: (rewrite) => this.keep({ rewrite }), guilty: this.runJobs.verdicts.guiltyRewrite(),
      onDifference: (at) => this.moves.goPlace({ show: null, line: at }), onLastLine: (last, at) => this.moves.goPlace({ step: last, show: null, line: at, whole: true }), onShow: (show, rewrite) => this.moves.goPlace({ show, rewrite }),
      editor: this.details.editor, onFindGuilty: () => this.runJobs.verdicts.askGuilty().then(() => this.showStep()),
      inline: this.isInline, whole: this.place.whole, wrap: this.place.wrap, opened: this.place.opened, colour: this.place.colour, box: this.place.box, infos: this.run.infos, labels: this.run.labels, verdictOf: (row) => this.verdictOf(row), onGraph: (changes) => { this.keep(changes); this.showStep(); }, llvm: this.place.llvm, onLlvm: (llvm) => this.keep({ llvm }),
      onStep: (other) => { this.place.show = null; this.moves.goStep(other); }, onOrder: () => this.moves.flip("slow"),
    };
  }

  // On a narrow window one column is the default.
  get isInline() {
    const least = this.place.show === "llvm-passes" ? 1500 : 800;
    return this.place.view ? this.place.view === "inline" : matchMedia(`(max-width: ${least}px)`).matches;
  }

  viewOptions(scroll) {
    const { names, blame, whole, wrap, line } = this.place;
    return {
      names, blame, whole, wrap, line, scroll, other: this.besideState && !this.place.from ? stageName(this.overview, this.besideState) : "",
      failed: this.step.status === "failed", inline: this.isInline,
      versus: stageName(this.overview, this.place.from ?? this.besideState ?? ""), onAlone: () => (this.place.from ? this.moves.compare(null) : this.moves.putBeside(null)),
      rewrite: () => this.runJobs.verdicts.rewriteNote(),
      nameOf: (step) => this.nameOf(step), onBlamed: (step) => this.moves.goStep(step),
    };
  }

  async showLine() {
    const { line } = this.place;
    if (!line || !/^[LR]\d{1,8}$/.test(line)) { this.details.showLine("", null); return; }
    const state = this.states()[line[0] === "L" ? 0 : 1];
    const info = await this.source.line(state, Number(line.slice(1)), () => line === this.place.line).catch(() => null);
    if (line === this.place.line) this.details.showLine(line, info);
  }

  showChange() {
    const { changes, current, answer } = this.view;
    byId("change").textContent = changes ? `${current < 0 ? "" : `${current + 1} of `}${plural(changes, "change")}` : "no change";
    byId("previous").disabled = byId("next").disabled = !changes;
    fill(byId("counts"), ...(changes ? [el("span", { class: "plus" }, `+${answer.added}`), " ", el("span", { class: "minus" }, `−${answer.removed}`)] : []));
  }

  openDetails() {
    this.keep({ details: true });
    this.showPanes();
  }

  showPanes() {
    byId("body").dataset.details = this.place.details ? "on" : "off";
    byId("to").setAttribute("aria-expanded", String(Boolean(this.place.details)));
  }

  showTab(name) {
    byId("body").dataset.tab = name;
    for (const button of byId("tabs").children) {
      if (button.dataset.tab === name) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  arrive() {
    if (!this.overview) return;
    const place = readPlace(location.hash);
    if (JSON.stringify(place) === JSON.stringify(this.place)) return;
    closeMenus();
    this.place = place;
    this.checkLink();
    this.settle();
    this.showAll();
  }
}

export function start(source) {
  const page = new Page(source);
  page.begin().catch((error) => page.waiting.failed(error.message));
}
