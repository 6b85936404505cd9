// What a verdict is called, and its mark: always a sign and a word, never a colour alone.

import { el } from "../dom.js";

// Sign, word in the list, and explanation.
export const BADGES = {
  exact: ["✓", "same", "The results are the same, bit for bit."],
  close: ["≈", "same up to rounding", "The results differ by no more than rounding explains."],
  differs: ["≠", "other results", "The program computes something else after this pass."],
  races: ["⇄", "races", "Two iterations or threads that nothing orders touch one element after this pass."],
  outside: ["⤓", "out of bounds", "An access leaves its buffer after this pass."],
  stopped: ["⧖", "stopped at its limit", "The program ends before this pass; after it, it was stopped at its limit."],
  failed: ["✕", "does not run", "The program runs before this pass but not after it."],
  unknown: ["?", "cannot tell", "This step could not be tried."],
  idle: ["○", "nothing to check", ""],
};

export const WRONG = new Set(["differs", "races", "outside", "stopped", "failed"]);

export function isWrong(verdict) { return WRONG.has(verdict?.status); }

// The mark of a verdict, which says so if it rests on a proof.
export function badgeOf(verdict) {
  const made = badge(verdict.status);
  if (verdict.basis === "proved" && verdict.status === "exact") {
    made.lastChild.textContent = " proved";
    made.title = `Shown for all values${verdict.sizes ? ` of ${verdict.sizes}` : ""}, not only for those that were tried.`;
  }
  return made;
}

export function badge(status, title = BADGES[status][2]) {
  const [sign, word] = BADGES[status];
  return el("span", { class: `badge ${status}`, title }, el("span", { "aria-hidden": "true" }, sign), ` ${word}`);
}
