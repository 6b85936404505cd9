// A data source for differences of texts that follow each other, from the data that came with them.

import { asLines } from "./rows.js";

// `steps` are the differences of each text from the one before it.
export class TextChain {
  constructor({ html, texts }, steps) {
    Object.assign(this, { html, steps });
    this.texts = texts.map((ahead) => { let at = 0; return ahead.map((each) => (at += each)); });
  }

  async diff(left, right) {
    const [before, after] = [this.texts[left], this.texts[right]];
    return { ...this.steps[left], exact: true, left: before.length, right: after.length, html: this.html, left_lines: asLines(before), right_lines: asLines(after) };
  }

  async lines(state, from, to) {
    return this.texts[state].slice(from - 1, to).map((at) => this.html[at]);
  }
}
