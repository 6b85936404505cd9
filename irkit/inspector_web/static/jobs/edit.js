// Edit the IR after the chosen pass, or the schedule that it chose, and run the rest of the passes on it.

import { byId, el, errorParts, fill, paused, plural } from "../dom.js";
import { colouredArea } from "./coloured_area.js";
import { runJob, runShown } from "./job.js";

const KINDS = { ir: "IR", schedule: "Schedule" };

export class Edit {
  constructor(page) {
    this.page = page;
    this.kept = new Map();
  }

  // Show the text of a step; what was changed in it stays while the page is open.
  async show(run, step) {
    const { view, source } = this.page;
    const key = `${run}.${step}`;
    if (this.key === key && this.box?.isConnected) return;
    view.showMessage("empty", el("p", {}, "Reading the IR…"));
    const mine = view.shown;
    let given;
    try {
      given = this.kept.get(key) ?? { before: await source.editable(run, step) };
    } catch (error) {
      if (mine === view.shown) view.showMessage("error", ...errorParts(error));
      return;
    }
    if (mine !== view.shown) return;
    given.now ??= { ir: given.before.text, schedule: given.before.schedule };
    this.kept.set(key, given);
    Object.assign(this, { key, run, step, given, kind: given.before.schedule ? this.kind ?? "ir" : "ir" });
    this.build();
    fill(view.view, this.box);
    this.area.focus();
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = 0;
  }

  build() {
    const { page } = this;
    const later = paused(300, () => this.check());
    this.area = el("textarea", { class: "edit-text", spellcheck: "false", autocapitalize: "off", wrap: "off", "aria-label": "The text", "aria-describedby": "edit-said",
      oninput: () => { this.given.now[this.kind] = this.area.value; this.mark("", "…"); later(); }, onkeydown: (event) => this.press(event) });
    this.coloured = colouredArea(this.area);
    this.said = el("p", { id: "edit-said", class: "edit-said", role: "status" });
    this.status = el("div", { class: "plan-status" });
    this.go = el("button", { type: "button", class: "primary", title: "Run the passes after this one (Ctrl Enter)", onclick: () => this.runRest() }, "Run the rest");
    this.reset = el("button", { type: "button", onclick: () => { this.given.now[this.kind] = this.original; this.fillText(); this.check(); } }, "Reset");
    const kinds = Object.entries(KINDS).map(([kind, name]) => el("button", { type: "button", "data-kind": kind, onclick: () => { this.kind = kind; this.fillText(); this.check(); } }, name));
    this.kinds = el("div", { class: "segments", role: "group", "aria-label": "What to edit", hidden: !this.given.before.schedule }, ...kinds);
    // A step on a whole module is followed by those on its functions.
    const isWhole = !page.run.steps[this.step].function;
    const left = page.run.steps.filter((row) => row.index > this.step && (isWhole || row.function === page.place.fn)).length;
    const many = isWhole ? plural(left, "step on its functions comes", "steps on its functions come") : plural(left, "pass comes", "passes come");
    this.box = el("div", { class: "view-box rerun edit" },
      el("div", { class: "plan-top" }, el("h2", {}, `After ${page.run.steps[this.step].name}`), this.said, this.kinds, this.reset, this.go, this.status),
      el("p", { class: "edit-why" }, `${many} after it. The new run stands beside this one, and is checked against it.`), this.coloured.box);
    this.fillText();
    this.mark("", "Nothing changed yet");
  }

  get original() { return this.kind === "ir" ? this.given.before.text : this.given.before.schedule; }
  get arguments() { return { run: this.run, step: this.step, text: this.area.value, kind: this.kind }; }

  fillText() {
    this.area.value = this.given.now[this.kind];
    this.coloured.paint();
    for (const button of this.kinds.children) button.setAttribute("aria-pressed", String(button.dataset.kind === this.kind));
  }

  mark(state, text) {
    this.said.className = `edit-said ${state}`;
    this.said.textContent = text;
    this.go.disabled = state !== "good";
    this.reset.disabled = this.area.value === this.original;
  }

  // Read and verify the text, in a child of the server: one text at a time, and then the last.
  async check() {
    if (this.checking) return;
    this.checking = true;
    for (let told = null; told !== this.area.value;) {
      told = this.area.value;
      if (told === this.original) { this.mark("", "Nothing changed yet"); continue; }
      const problem = await runJob(this.page.source, "edit", this.arguments).then(() => "", (error) => error.message);
      if (told !== this.area.value) continue;
      if (problem) this.mark("bad", problem);
      else this.mark("good", this.kind === "ir" ? "✓ It parses and verifies" : "✓ Every primitive is legal");
    }
    this.checking = false;
  }

  press(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !this.go.disabled) { event.preventDefault(); this.runRest(); }
    if (event.key === "Escape") { event.preventDefault(); this.page.moves.goShow(""); }
  }

  async runRest() {
    const { run, page } = this;
    this.go.disabled = true;
    const made = await runShown(this.status, page.source, "edit", { ...this.arguments, go: true }, "Running the passes");
    this.go.disabled = false;
    if (!made) return;
    const { fn } = page.place;
    await page.refresh();
    const [first] = page.overview.runs[made.run].steps;
    page.keep({ run: made.run, beside: run, fn, step: first.index, from: null, line: null, show: null }, true);
    page.settle();
    await page.showAll();
    byId("diff").focus();
    page.runJobs.verdicts.askAll(true);
  }
}
