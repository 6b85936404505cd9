// Jobs: start one on the server, show how far it is, cancel it.

import { el, errorParts, fill, plural } from "../dom.js";

const POLL_INTERVAL = 150;

// Start a job and wait for its result. `onProgress` is called with its state each time it is polled;
// aborting `signal` cancels it. If an equal job is running or done, that one is used.
export async function runJob(source, kind, args, { onProgress, signal } = {}) {
  const { id } = await source.beginJob(kind, args);
  return followJob(source, id, { onProgress, signal });
}

// Wait for a job that is running already, such as from before a reload of the page.
export async function followJob(source, id, { onProgress, signal } = {}) {
  for (let wait = POLL_INTERVAL / 3; ; wait = POLL_INTERVAL) {
    const info = signal?.aborted ? await source.cancelJob(id) : await source.job(id);
    onProgress?.(info);
    if (info.state === "done") return info.result;
    if (info.state === "failed" || info.state === "cancelled") throw new JobError(info);
    await pause(wait, signal);
  }
}

// List the jobs of a kind: {id, arguments, state, ...}, the newest last.
export async function knownJobs(source, kind) {
  return (await source.jobs()).filter((info) => info.kind === kind);
}

export class JobError extends Error {
  constructor(info) {
    super(info.message);
    this.cancelled = info.state === "cancelled";
    this.replay = info.replay;
  }
}

function pause(wait, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, wait);
    signal?.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}

// A line with the progress of a job and a button to cancel it; `show` is for onProgress.
export class JobProgress {
  constructor(title) {
    this.title = title;
    this.stop = new AbortController();
    this.signal = this.stop.signal;
    this.said = el("span", { role: "status" }, title);
    this.bar = el("progress", { "aria-label": title });
    this.button = el("button", { type: "button", onclick: () => this.cancel() }, "Cancel");
    this.elapsed = el("small", { class: "elapsed", "aria-hidden": "true" });
    this.element = el("div", { class: "job" }, this.said, this.bar, this.elapsed, this.button);
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
    // Only on a change: screen readers would repeat it.
    if (this.said.textContent !== text) this.said.textContent = text;
    if (info.total) Object.assign(this.bar, { max: info.total, value: info.done });
    else this.bar.removeAttribute("value");
    const most = info.pass_limit ? `, a pass at most ${info.pass_limit} s` : info.limit ? ` of at most ${info.limit} s` : "";
    this.elapsed.textContent = `${Math.round(info.seconds)} s${most}`;
    this.button.title = `${plural(Math.round(info.seconds), "second")} so far`;
  }
}

// Run a job and show its progress in an element; if it fails, show the error there.
export function runShown(place, source, kind, args, title) {
  return shownIn(place, title, (watch) => runJob(source, kind, args, watch));
}

// The same for any asynchronous `work`, which gets { onProgress, signal }.
export async function shownIn(place, title, work) {
  const progress = new JobProgress(title);
  fill(place, progress.element);
  try {
    const made = await work({ onProgress: progress.show, signal: progress.signal });
    fill(place);
    return made;
  } catch (error) {
    fill(place, el("div", { class: error.cancelled ? "note" : "error", role: "alert" }, ...errorParts(error)));
    return null;
  }
}
