// Where the time of a kernel goes: its loops, timed by clocks in the native code.

import { el, fill, plural } from "../dom.js";
import { micros } from "../jobs/costs.js";
import { knownJobs, runShown } from "../jobs/job.js";

// The times of an earlier measurement, or a button that measures them.
export async function showLoopTimes(box, source, given) {
  const place = el("div", { class: "job-slot" });
  const args = { run: given.run, function: given.fn };
  const ask = async () => { const made = await runShown(place, source, "loop-times", args, "Timing loops"); if (made) fill(box, el("h2", {}, "Loops"), loopTable(made, given)); };
  fill(box, el("h2", {}, "Loops"),
    el("p", { class: "job-why" }, "Puts a clock around each loop of the finished kernel that runs long enough, and says what the clocks themselves cost."),
    el("p", {}, el("button", { type: "button", id: "ask-loops", onclick: ask }, "Time its loops")), place);
  const known = (await knownJobs(source, "loop-times").catch(() => [])).findLast((info) => info.state === "done" && info.arguments.run === args.run && info.arguments.function === args.function);
  if (known) fill(box, el("h2", {}, "Loops"), loopTable((await source.job(known.id)).result, given));
}

function loopTable({ message, loops, plain, timed, calls, step, sizes }, given) {
  if (message) return el("p", { class: "error", role: "alert" }, message);
  const last = given.all[step];
  const rows = (loops ?? []).map((loop) => {
    const bar = el("i", {});
    bar.style.width = `${Math.min(100, (100 * loop.own) / timed)}%`;
    const name = el("button", { type: "button", class: "link", title: `Line ${loop.line} after ${last.name}`, onclick: () => given.onLastLine(step, `R${loop.line}`) }, loop.var);
    const cell = el("th", { scope: "row" }, name, el("small", {}, ` ${loop.kind}, line ${loop.line}`));
    cell.style.paddingLeft = `${8 + 16 * loop.depth}px`;
    return el("tr", {}, cell, el("td", {}, percent(Math.min(1, loop.seconds / timed))), el("td", {}, percent(Math.min(1, loop.own / timed))),
      el("td", { "aria-hidden": "true" }, el("span", { class: "track" }, bar)),
      el("td", {}, micros(loop.seconds * 1e6)), el("td", {}, Math.round(loop.iterations).toLocaleString("en")), el("td", {}, loop.iterations ? micros((loop.seconds / loop.iterations) * 1e6) : "–"));
  });
  const heads = ["Loop", "Of the time", "Itself", "", "A call", "Iterations", "An iteration"].map((title) => (title ? el("th", { scope: "col" }, title) : el("td", {})));
  return el("div", {},
    rows.length ? el("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Table of loops" }, el("table", { class: "memory-table loop-table" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)))
      : el("p", {}, "No loop runs long enough to be worth a clock."),
    el("p", { class: "job-why" }, `${micros(plain * 1e6)} a call on one thread, median of ${plural(calls, "call")}; ${micros(timed * 1e6)} with clocks, which is ${overhead(timed / plain - 1)}. Clocks keep LLVM from joining loops, so a loop can be slower with one.${sizes ? ` With ${sizes}.` : ""}`));
}

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

// A difference of a hundredth is noise.
function overhead(share) {
  const rounded = Math.round(100 * share);
  return rounded ? `${Math.abs(rounded)} % ${rounded > 0 ? "slower" : "faster"}` : "no difference";
}
