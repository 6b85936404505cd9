// Work that takes a while: ask the server for it, say how far it is, stop it.

import { el, fill, plural } from "../dom.js";

const LOOKS = 150;

// Ask for work and wait for what comes of it. `onProgress` hears of every look at it; an aborted
// `signal` cancels it. The same work that is going on, or done, is not begun again.
export async function runJob(source, kind, args, { onProgress, signal } = {}) {
  const { id } = await source.beginJob(kind, args);
  return followJob(source, id, { onProgress, signal });
}

// Wait for work that is going on already, such as before the page was loaded anew.
export async function followJob(source, id, { onProgress, signal } = {}) {
  for (let wait = LOOKS / 3; ; wait = LOOKS) {
    const info = signal?.aborted ? await source.cancelJob(id) : await source.job(id);
    onProgress?.(info);
    if (info.state === "done") return info.result;
    if (info.state === "failed" || info.state === "cancelled") throw new JobError(info);
    await pause(wait, signal);
  }
}

// What is known of work of a kind: {id, arguments, state, ...}, the newest last.
export async function knownJobs(source, kind) {
  return (await source.jobs()).filter((info) => info.kind === kind);
}

export class JobError extends Error {
  constructor(info) {
    super(info.message);
    this.cancelled = info.state === "cancelled";
  }
}

function pause(wait, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, wait);
    signal?.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}

// A line that says how far work is, with a button to stop it; `show` is for onProgress.
export class JobProgress {
  constructor(title) {
    this.title = title;
    this.stop = new AbortController();
    this.signal = this.stop.signal;
    this.said = el("span", { role: "status" }, title);
    this.bar = el("progress", { "aria-label": title });
    this.button = el("button", { type: "button", onclick: () => this.cancel() }, "Cancel");
    this.element = el("div", { class: "job" }, this.said, this.bar, this.button);
    this.show = this.show.bind(this);
  }

  cancel() {
    this.button.disabled = true;
    this.stop.abort();
  }

  show(info) {
    const waits = info.state === "queued" ? "waiting for its turn" : info.what;
    const count = info.total ? `${info.done} of ${info.total}` : "";
    const text = [this.title, waits, count].filter(Boolean).join(", ");
    // Only what is new: a reader would say it again and again.
    if (this.said.textContent !== text) this.said.textContent = text;
    if (info.total) Object.assign(this.bar, { max: info.total, value: info.done });
    else this.bar.removeAttribute("value");
    this.button.title = `${plural(Math.round(info.seconds), "second")} so far`;
  }
}

// Run work with its progress in a place of the page, and put there what went wrong, if it did.
export function runShown(place, source, kind, args, title) {
  return shownIn(place, title, (watch) => runJob(source, kind, args, watch));
}

// The same of any work; `work` gets what to tell and what stops it.
export async function shownIn(place, title, work) {
  const progress = new JobProgress(title);
  fill(place, progress.element);
  try {
    const made = await work({ onProgress: progress.show, signal: progress.signal });
    fill(place);
    return made;
  } catch (error) {
    fill(place, el("p", { class: error.cancelled ? "note" : "error", role: "alert" }, error.message));
    return null;
  }
}
