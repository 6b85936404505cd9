// The difference, as rows in chunks that the browser lays out only when they come into view.

import { Along } from "./along.js";
import { Chunks } from "./chunks.js";
import { byId, copyText, el, fill, plural } from "../dom.js";
import { laidOut, lastFrom, missingLines, pageRows, placeOf, rowsBetween } from "./rows.js";

const UNFOLD = 40;
const MOST_AT_ONCE = 20000;
const MOST_MEASURED = 400;

export class DiffView {
  constructor(source, { onLine, onChange, answers = source, view = byId("view") }) {
    this.source = source;
    this.answers = answers;
    this.onLine = onLine;
    this.onChange = onChange;
    this.view = view;
    this.along = new Along(view);
    this.inner = null;
    this.view.addEventListener("click", (event) => this.clicked(event));
    this.shown = 0;
    this.current = -1;
    this.changes = 0;
  }

  showMessage(className, ...content) {
    this.shown++;
    this.inner = null;
    this.view.removeAttribute("aria-busy");
    this.changes = 0;
    this.current = -1;
    fill(this.view, el("div", { class: className, role: className === "error" ? "alert" : "status" }, ...content));
    this.onChange();
  }

  // Show the difference of two states; a response that comes too late is dropped.
  async show(left, right, options) {
    const mine = ++this.shown;
    this.inner = null;
    // The old rows are of another place: their lines must not be chosen now.
    this.view.setAttribute("aria-busy", "true");
    const slow = this.slow = setTimeout(() => {
      if (mine === this.shown) fill(this.view, el("p", { class: "empty", role: "status" }, "Comparing…"));
    }, 200);
    try {
      const answer = await this.answers.diff(left, right, options.names);
      const blame = options.blame ? await this.source.blame(right, () => mine === this.shown) : null;
      if (mine !== this.shown) return;
      this.load(answer, left, right, options, blame);
      await this.draw(mine);
    } catch (error) {
      if (mine === this.shown) {
        this.showMessage("error", el("p", {}, error.message), el("button", { type: "button", onclick: () => this.show(left, right, options) }, "Try again"));
      }
    } finally {
      clearTimeout(slow);
      if (mine === this.shown) this.view.removeAttribute("aria-busy");
    }
  }

  load(answer, left, right, options, blame) {
    const asMap = (given) => new Map(Object.entries(given).map(([line, at]) => [Number(line), answer.html[at]]));
    // The same difference shown again, because of late data around it, keeps its position.
    const again = this.states?.left === left && this.states?.right === right;
    const current = again ? this.current : -1;
    this.answer = answer;
    this.options = options;
    this.states = { left, right };
    this.known = { left: asMap(answer.left_lines), right: asMap(answer.right_lines) };
    this.opened = new Map();
    this.along.reset();
    this.blame = blame && { steps: blame.map(([step]) => step), starts: laidOut(blame.map(([, count]) => ({ kind: "same", count }))).starts };
    this.changes = answer.rows.reduce((sum, row, at, all) => sum + (row[0] !== "=" && (at === 0 || all[at - 1][0] === "=") ? 1 : 0), 0);
    this.current = Math.min(current, this.changes - 1);
    // Without differences a second column would only repeat the first.
    if (!this.changes) this.options.inline = true;
  }

  async draw(mine = this.shown) {
    const laid = laidOut(pageRows(this.answer.rows, { inline: this.options.inline, whole: this.options.whole, opened: this.opened }));
    const table = el("div", { class: this.tableClass(), role: "table", "aria-label": this.label() });
    const chunks = new Chunks(this.view, table, laid, {
      make: (rows) => this.rowsHtml(rows, chunks.isLarge),
      onFilled: () => this.markAgain(),
    });
    await chunks.open(0);
    if (!this.options.inline && !this.options.wrap) this.share(table, laid);
    if (mine !== this.shown) { chunks.close(); return; }
    clearTimeout(this.slow);
    this.chunks?.close();
    this.chunks = chunks;
    fill(this.view, this.note(), table);
    this.onChange();
    await this.showRewrite();
    if (this.current >= 0) await this.goTo(this.current);
    await this.mark(this.options.line, this.options.scroll);
  }

  // Tell the table how wide the lines of each side are, in characters; those at its start stand for all.
  share(table, laid) {
    for (const side of ["left", "right"]) {
      let most = 0;
      for (const row of rowsBetween(laid, 0, MOST_MEASURED)) {
        if (row.kind === "fold") continue;
        const mark = markOf(row, side);
        const html = mark >= 0 ? this.answer.html[mark] : this.known[side].get(row[side]) ?? (row.kind === "same" ? this.known.right.get(row.right) : "");
        if (html) most = Math.max(most, charactersOf(html));
      }
      table.style.setProperty(`--${side}-wide`, `calc(${most}ch + 34px)`);
    }
  }

  // The lines of a large text are requested again when they come into view again.
  async rowsHtml(rows, isLarge) {
    const known = isLarge ? { left: new Map(this.known.left), right: new Map(this.known.right) } : this.known;
    await Promise.all([this.fetchMissing(rows, "left", known.left), this.fetchMissing(rows, "right", known.right)]);
    return rows.map((row) => this.rowHtml(row, known));
  }

  tableClass() {
    return `lines ${this.options.inline ? "inline" : "sides"}${this.blame ? " blamed" : ""}${this.options.whole ? " whole" : ""}${this.options.wrap ? " wrapped" : ""}`;
  }

  label() {
    return `${plural(this.answer.removed, "line")} removed, ${this.answer.added} added`;
  }

  note() {
    if (this.options.versus && (this.changes || !this.options.other)) return el("p", { class: "versus" }, "Compared with ", el("b", {}, this.options.versus), ". ", el("button", { type: "button", class: "link", onclick: this.options.onAlone }, "Stop"));
    if (this.answer.note) return el("p", { class: "note" }, this.answer.note);
    if (this.changes) {
      return this.answer.exact ? null : el("p", { class: "note" }, "The texts are so large that a smaller difference may exist.");
    }
    const text = this.options.other ? `No difference from ${this.options.other}.` : this.options.failed ? "This pass failed. This is the IR that it was given." : this.options.names ? "Only names differ." : "No difference. This is the whole IR.";
    return el("p", { class: "note", id: "no-change" }, text);
  }

  async fetchMissing(rows, side, known) {
    // Equal lines are the same on both sides, so one side is enough, unless names are ignored.
    if (side === "left" && (this.options.inline || !this.options.names)) rows = rows.filter((row) => row.kind !== "same");
    rows = rows.filter((row) => !(markOf(row, side) >= 0));
    for (const [from, to] of missingLines(rows, side, known)) {
      for (let begin = from; begin <= to; begin += MOST_AT_ONCE) {
        const lines = await this.source.lines(this.states[side], begin, Math.min(to, begin + MOST_AT_ONCE - 1));
        lines.forEach((line, at) => known.set(begin + at, line));
      }
    }
  }

  rowHtml(row, known) {
    if (row.kind === "fold") return foldHtml(row);
    const start = `<div role="row" class="row ${row.kind}"${row.first !== undefined ? ` data-change="${row.first}"` : ""} data-left="${row.left}" data-right="${row.right}">`;
    if (this.options.inline) {
      const side = row.kind === "removed" ? "left" : "right";
      return `${start}${this.blameHtml(row)}${numberHtml(row.left)}${numberHtml(row.right)}${this.codeHtml(row, side, known)}</div>`;
    }
    return `${start}${numberHtml(row.left)}${this.codeHtml(row, "left", known)}${this.blameHtml(row)}${numberHtml(row.right)}${this.codeHtml(row, "right", known)}</div>`;
  }

  codeHtml(row, side, known) {
    const line = row[side];
    if (!line) return '<span role="cell" class="code none"></span>';
    const mark = markOf(row, side);
    const moved = this.options.inline ? row.moved : side === "left" ? row.leftMoved : row.rightMoved;
    let text = mark >= 0 ? this.answer.html[mark] : known[side].get(line) ?? known.right.get(row.right) ?? "";
    // Indentation is not marked.
    text = text.replace(/^<mark>( +)(<\/mark>)?/, (_, space, end) => space + (end ? "" : "<mark>"));
    const deep = /^ */.exec(text)[0].length;
    const indent = deep ? `<span class="in">${text.slice(0, deep)}</span>` : "";
    const changed = row.kind !== "same";
    // Most rows are equal ones: each element less in them is a layer less to lay out and to draw.
    const said = moved ? '<span class="visually-hidden">moved </span>⇅' : side === "left" ? "−" : "+";
    const sign = changed || moved ? `<span class="sign">${said}</span>` : "";
    const kind = moved ? " moves" : changed ? (side === "left" ? " gone" : " come") : "";
    return `<span role="cell" class="code${kind} d${Math.min(24, deep >> 2)}">${sign}${indent}${shortDigests(text.slice(deep))}</span>`;
  }

  blameHtml(row) {
    if (!this.blame) return "";
    const step = row.right ? this.blame.steps[lastFrom(this.blame.starts, row.right - 1)] : -2;
    if (step === -2) return '<span role="cell" class="who"></span>';
    const named = el("span", { role: "cell", class: "who", "data-step": step }, this.options.nameOf(step));
    return named.outerHTML;
  }

  clicked(event) {
    if (this.inner || this.view.hasAttribute("aria-busy")) return undefined;
    const fold = event.target.closest("button[data-open]");
    if (fold) return this.unfold(fold);
    const copied = event.target.closest("button[data-copy]");
    if (copied) return copyText(copied.dataset.copy, copied);
    const row = event.target.closest(".row[data-left]");
    if (!row || getSelection().toString()) return undefined;
    const who = event.target.closest(".who[data-step]");
    if (who && Number(who.dataset.step) >= 0) return this.options.onBlamed(Number(who.dataset.step));
    const code = event.target.closest(".code, .no");
    const cells = [...row.children];
    const onLeft = !this.options.inline && code && cells.indexOf(code) < 2;
    const side = (onLeft && row.dataset.left !== "0") || row.dataset.right === "0" ? "L" : "R";
    const line = `${side}${side === "L" ? row.dataset.left : row.dataset.right}`;
    this.mark(line, false);
    return this.onLine(line);
  }

  async unfold(button) {
    const { open, key, count } = button.dataset;
    const extra = this.opened.get(Number(key)) ?? { head: 0, tail: 0 };
    if (open === "all") extra.head += Math.min(Number(count), MOST_AT_ONCE);
    else extra[open] += UNFOLD;
    this.opened.set(Number(key), extra);
    await this.draw();
    const first = this.view.querySelector(`button[data-key="${key}"]`);
    if (first) first.focus();
    else this.view.focus();
  }

  // Mark a line such as L12 or R3.
  async mark(line, scroll) {
    this.options.line = line;
    if (line && scroll && this.chunks?.isLarge) {
      await this.chunks.reveal(placeOf(this.chunks.laid, line[0] === "L" ? "left" : "right", Number(line.slice(1))));
      if (line !== this.options.line) return;
    }
    if (line && scroll) await this.chunks?.finish();
    this.view.querySelectorAll(".row.chosen").forEach((row) => row.classList.remove("chosen"));
    if (!line) return;
    const name = line[0] === "L" ? "left" : "right";
    const number = Number(line.slice(1));
    const from = name === "right" ? `, .row[data-from="${number}"]` : "";
    const rows = this.view.querySelectorAll(`.row[data-${name}="${number}"]${from}`);
    rows.forEach((row) => row.classList.add("chosen"));
    if (scroll) rows[0]?.scrollIntoView({ block: "nearest" });
  }

  // Put what is known of the guilty rewrite under the first line that it made.
  async showRewrite() {
    this.view.querySelector(".rewrite")?.remove();
    const note = this.options?.rewrite?.();
    if (!note) return;
    await this.chunks?.finish();
    const plain = (text) => text.replace(/\s+/g, "");
    const rows = [...this.view.querySelectorAll(".row:is(.changed, .both, .added)")];
    const row = rows.find((each) => note.lines.includes(plain(each.querySelector(".code.come")?.textContent.replace(/^\+/, "") ?? "")));
    // Names can be printed otherwise where the rewrite alone was tried, and what it removed has no line.
    (row ?? rows[0] ?? this.view.querySelector(".row.removed"))?.after(note.element);
  }

  // Mark rows that have come into view.
  markAgain() {
    this.mark(this.options.line, false);
    this.view.querySelector(`[data-change="${this.current}"]`)?.classList.add("current");
  }

  // The line after a chosen one, or before it; without one, that of the current change or at the top.
  nextLine(ahead, chosen) {
    const native = [...this.view.querySelectorAll(".row[data-from]:not([data-from='0'])")];
    if (native.length) return nextNative(native, ahead, chosen);
    const rows = [...this.view.querySelectorAll(".row[data-left]")];
    const top = this.view.getBoundingClientRect().top;
    const at = rows.findIndex((row) => row.matches(".chosen"));
    const first = rows.find((row) => row.matches(".current")) ?? rows.find((row) => row.getBoundingClientRect().top >= top);
    const row = at < 0 ? first : rows[Math.max(0, Math.min(rows.length - 1, at + ahead))];
    if (!row) return "";
    return row.dataset.right === "0" ? `L${row.dataset.left}` : `R${row.dataset.right}`;
  }

  // Take over the changes of a difference that is inside another view.
  follow({ changes, current, answer }) {
    Object.assign(this, { changes, current, answer });
    this.onChange();
  }

  // Go to the next change, or the previous one.
  go(ahead) {
    if (this.inner) { this.inner.go(ahead); return; }
    if (!this.changes) return;
    this.goTo(Math.max(0, Math.min(this.changes - 1, this.current + ahead)));
  }

  async goTo(change) {
    this.current = change;
    if (this.chunks?.isLarge) {
      const { rows, starts } = this.chunks.laid;
      await this.chunks.reveal(starts[rows.findIndex((row) => row.first === change)]);
      if (change !== this.current) return;
    }
    await this.chunks?.finish();
    this.view.querySelectorAll(".row.current").forEach((row) => row.classList.remove("current"));
    const row = this.view.querySelector(`[data-change="${change}"]`);
    if (row) {
      row.classList.add("current");
      row.scrollIntoView({ block: "center" });
    }
    this.onChange();
  }
}

// The index of the line with its changed words marked; it came with the difference.
const markOf = (row, side) => (side === "left" ? row.leftMark : row.rightMark);

// How many characters wide a line is: its indentation takes half of that.
function charactersOf(html) {
  const text = html.replace(/<[^>]*>/g, "").replace(/&[#\w]+;/g, "_");
  return text.length - /^ */.exec(text)[0].length / 2;
}

// Machine code jumps between lines of the IR: go through these in their own order.
function nextNative(rows, ahead, chosen) {
  const lines = [...new Set(rows.map((row) => Number(row.dataset.from)))].sort((a, b) => a - b);
  const at = chosen?.startsWith("R") ? lines.indexOf(Number(chosen.slice(1))) : -1;
  return `R${lines[at < 0 ? 0 : Math.max(0, Math.min(lines.length - 1, at + ahead))]}`;
}

// A digest is shown by its first letters, and copied whole.
function shortDigests(text) {
  return text.replace(/&quot;([0-9a-f]{8})([0-9a-f]{56})&quot;/g, (_, head, rest) => `&quot;${head}…&quot;</span><button type="button" class="copy" tabindex="-1" data-copy="${head}${rest}" aria-label="Copy the digest" title="Copy the digest"></button><span class="s">`);
}

function numberHtml(line) {
  return `<span role="cell" class="no">${line || ""}</span>`;
}

function foldHtml(row) {
  const button = (open, text) => `<button type="button" data-open="${open}" data-key="${row.key}" data-count="${row.count}">${text}</button>`;
  const more = row.count > UNFOLD ? [button("head", `${UNFOLD} more ↓`), button("tail", `${UNFOLD} more ↑`)] : ["", ""];
  return `<div role="row" class="fold"><span role="cell">${button("all", `Show ${row.count.toLocaleString("en")} unchanged lines`)}${more.join("")}</span></div>`;
}
