// Another run beside the one shown: which steps correspond, and where the runs differ.

import { el, fill } from "../dom.js";

export class Beside {
  constructor(source) {
    this.source = source;
    this.key = "";
    this.other = null;
    this.pairs = [];
  }

  // Load the pairs of steps of two runs; none without another run.
  async load({ run, beside, fn }) {
    const key = JSON.stringify([run, beside, fn]);
    if (key === this.key) return;
    const pairs = beside === null ? [] : await this.source.beside(run, beside, fn);
    Object.assign(this, { key, pairs, other: beside });
  }

  forget() { this.key = ""; }

  // The counterpart of a step in the other run; if there is none, the last before it.
  partner(step) {
    const at = this.pairs.findIndex((pair) => pair.left === step);
    if (at < 0) return null;
    if (this.pairs[at].right !== null) return { step: this.pairs[at].right, exact: true, same: this.pairs[at].same };
    const before = this.pairs.slice(0, at).findLast((pair) => pair.right !== null);
    return before ? { step: before.right, exact: false, same: false } : null;
  }

  get firstDifference() {
    return this.pairs.find((pair) => pair.left !== null && pair.right !== null && !pair.same)?.left ?? null;
  }

  // A step of this run alone, if the runs are equal up to it.
  get aloneBefore() {
    const first = this.pairs.find((pair) => !pair.same);
    return first?.right === null ? first.left : null;
  }

  get onlyInOne() { return this.pairs.filter((pair) => pair.left === null || pair.right === null).length; }
}

// The mark in a row of the list: how the step compares with its counterpart.
export function pairMark(beside, step, title) {
  const partner = beside.partner(step);
  const [sign, said] = !partner?.exact ? ["◇", `not in ${title}`] : partner.same ? ["=", `same IR after it as in ${title}`] : ["≠", `other IR after it than in ${title}`];
  return el("span", { class: `pair${sign === "=" ? "" : " differs"}`, title: said }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "visually-hidden" }, said));
}

export function pairNote(box, beside, run, title, onStep) {
  const { firstDifference: first, aloneBefore: alone, onlyInOne } = beside;
  const only = onlyInOne ? ` ${onlyInOne} in one run only (◇).` : "";
  const link = (step) => el("button", { type: "button", class: "link", onclick: () => onStep(step) }, `${step} ${run.steps[step].name}`);
  const said = first === null
    ? el("span", {}, `After every common pass the same as in ${title}.`)
    : el("span", {}, "First differs after ", link(alone !== null && run.steps[alone].status === "changed" ? alone : first), ".");
  fill(box, said, only);
}
