// Differences that the page has, or has asked for: of the pass that is shown, of those next to it, and of
// one that is pointed at. A pass that is chosen after that is shown without a wait.

const KEPT = 12;
const LARGEST_AHEAD = 20000;
const REST = 60;

export class Answers {
  constructor(page) {
    this.page = page;
    this.known = new Map();
    const pointed = (event) => {
      const step = event.target.closest?.("[data-step]")?.dataset.step;
      if (step !== undefined) this.prepare(Number(step));
    };
    addEventListener("pointerover", pointed);
    addEventListener("focusin", pointed);
  }

  // Return the difference of two states as a promise; one that failed is asked for again.
  diff(left, right, names) {
    const key = `${left} ${right} ${Boolean(names)}`;
    let coming = this.known.get(key);
    if (!coming) {
      coming = this.page.source.diff(left, right, names);
      coming.catch(() => this.known.delete(key));
    }
    this.known.delete(key);
    this.known.set(key, coming);
    if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value);
    return coming;
  }

  // Ask first of all for the difference that is about to be shown: it comes while the page draws the rest.
  expect() {
    const { show, beside, names, blame } = this.page.place;
    if (this.page.run.steps.length && !show && beside === null && !blame) this.diff(...this.page.states(), names).catch(() => null);
  }

  // Ask for the difference of a pass that may be chosen next.
  prepare(step) {
    const { page } = this;
    if (!page.ready || !page.run.steps[step]) return;
    const { show, beside, from, names, blame, run } = page.place;
    const { before, status } = page.run.steps[step];
    // Of a very large function, the server counts no nodes, and a difference takes it long.
    const isSmall = typeof before === "number" && before < LARGEST_AHEAD;
    if ((!show || show === "overview") && beside === null && !from && !blame && isSmall) this.diff(`${run}.${step}.b`, `${run}.${step}.${status === "failed" ? "b" : "a"}`, names);
  }

  // Those above and below a pass in the list, once it is shown.
  prepareAround(step) {
    clearTimeout(this.later);
    this.later = setTimeout(() => [1, -1].forEach((ahead) => this.prepare(this.page.passes.after(step, ahead) ?? -1)), REST);
  }

  forget() { this.known.clear(); }
}
