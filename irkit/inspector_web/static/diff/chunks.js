// Rows in chunks. Up to some thousands, all are filled, so that the browser's own search finds them:
// those of the window at once, and the others once those are on the screen.
// Above, only chunks near the visible part are filled; far above, only one page of rows is shown at a
// time, because browsers do not draw elements that are taller than some million pixels.

import { el, fill } from "../dom.js";
import { rowsBetween } from "./rows.js";

const CHUNK = 25;
const firstOnes = () => Math.ceil(innerHeight / ROW / CHUNK);
const AT_ONCE = 20000;
const PAGE = 200000;
const HELD = 480;
const ROW = 20;
const NEAR = "1200px";
const PAUSE = 40;
const SHOWN = 60;

export class Chunks {
  // `make` returns the HTML of rows as a list; `onFilled` is called with a chunk once it is filled.
  constructor(view, table, laid, { make, onFilled }) {
    Object.assign(this, { view, table, laid, make, onFilled });
    this.isLarge = laid.total > AT_ONCE;
    this.near = new Set();
    this.held = new Set();
    this.page = -1;
  }

  get pages() { return Math.ceil(this.laid.total / PAGE); }

  // Show a page of rows, counted from 0.
  async open(page) {
    this.close();
    this.page = page;
    const begin = page * PAGE;
    const end = Math.min(this.laid.total, begin + PAGE);
    const chunks = [];
    for (let at = begin; at < end; at += CHUNK) chunks.push(this.empty(at, Math.min(end, at + CHUNK)));
    this.chunks = chunks;
    if (this.isLarge) await this.fill(chunks[0]);
    else await this.fillFrom(0, this.first = firstOnes());
    fill(this.table, this.pager(begin, end), ...chunks, this.pager(begin, end));
    if (this.isLarge) this.observe();
    else this.later = setTimeout(() => this.finish().catch(() => null), SHOWN);
  }

  close() {
    this.observer?.disconnect();
    clearTimeout(this.waiting);
    clearTimeout(this.later);
    this.near.clear();
    this.held.clear();
  }

  empty(begin, end) {
    const chunk = el("div", { class: `chunk${this.isLarge ? " far" : ""}`, role: "rowgroup" });
    Object.assign(chunk, { begin, end, coming: null });
    if (this.isLarge) chunk.style.height = `${(end - begin) * ROW}px`;
    else chunk.style.containIntrinsicSize = `auto ${(end - begin) * ROW}px`;
    return chunk;
  }

  async fillFrom(first, end) {
    const chunks = this.chunks.slice(first, end);
    if (!chunks.length) return;
    const { begin } = chunks[0];
    const made = await this.make(rowsBetween(this.laid, begin, chunks.at(-1).end));
    for (const chunk of chunks) chunk.innerHTML = made.slice(chunk.begin - begin, chunk.end - begin).join("");
  }

  // Fill the chunks that are still empty, unless the text is large.
  finish() {
    if (this.isLarge) return Promise.resolve();
    clearTimeout(this.later);
    const { chunks } = this;
    this.finishing ??= this.fillFrom(this.first).then(() => { if (chunks.length > this.first) this.onFilled(); });
    return this.finishing;
  }

  pager(begin, end) {
    if (this.pages < 2) return null;
    const turn = (text, page) => el("button", { type: "button", disabled: page < 0 || page >= this.pages, onclick: () => this.turn(page) }, text);
    const said = `Rows ${(begin + 1).toLocaleString("en")} to ${end.toLocaleString("en")} of ${this.laid.total.toLocaleString("en")}`;
    return el("div", { class: "pager", role: "navigation", "aria-label": "Pages of rows" }, turn("← Previous page", this.page - 1), el("span", {}, said), turn("Next page →", this.page + 1));
  }

  async turn(page) {
    await this.open(page);
    this.view.scrollTop = 0;
    this.view.focus();
  }

  observe() {
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.near.add(target);
        else this.near.delete(target);
      }
      // Chunks that are scrolled past quickly are not filled.
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.near.forEach((chunk) => this.fill(chunk)), PAUSE);
    }, { root: this.view, rootMargin: NEAR });
    this.chunks.forEach((chunk) => this.observer.observe(chunk));
  }

  fill(chunk) {
    chunk.coming ??= this.load(chunk).catch((error) => {
      chunk.coming = null;
      fill(chunk, el("p", { class: "note", role: "alert" }, error.message));
    });
    return chunk.coming;
  }

  async load(chunk) {
    const made = await this.make(rowsBetween(this.laid, chunk.begin, chunk.end));
    const before = chunk.getBoundingClientRect();
    chunk.innerHTML = made.join("");
    chunk.style.height = "";
    // The visible rows stay in place, however tall the rows above turn out to be.
    if (chunk.isConnected && before.bottom <= this.view.getBoundingClientRect().top) {
      this.view.scrollTop += chunk.getBoundingClientRect().height - before.height;
    }
    this.held.add(chunk);
    this.onFilled(chunk);
    this.dropFarChunks();
  }

  dropFarChunks() {
    for (const chunk of this.held) {
      if (this.held.size <= HELD) return;
      if (this.near.has(chunk)) continue;
      chunk.style.height = `${chunk.getBoundingClientRect().height}px`;
      chunk.replaceChildren();
      chunk.coming = null;
      this.held.delete(chunk);
    }
  }

  // Fill the chunk of a row, counted from 0.
  async reveal(at) {
    if (!this.isLarge || at < 0) return;
    const page = Math.floor(at / PAGE);
    if (page !== this.page) await this.open(page);
    const place = Math.floor((at - page * PAGE) / CHUNK);
    await Promise.all(this.chunks.slice(Math.max(0, place - 1), place + 2).map((chunk) => this.fill(chunk)));
  }
}
