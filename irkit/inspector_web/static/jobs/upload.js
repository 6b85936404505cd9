// Upload a file, with the button or by dropping it on the page: it becomes a new run.

import { byId, el, fill } from "../dom.js";
import { followJob, shownIn } from "./job.js";

const MOST_SENT = 64 * 1024 * 1024;
const SUFFIXES = [".onnx", ".irs", ".trace", ".txt", ".log", ".mlir", ".ll", ".jsonl"];

export function takeFiles(page) {
  const input = byId("upload-file");
  byId("upload").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const [file] = input.files;
    if (file) take(page, file);
    input.value = "";
  });
  for (const name of ["dragenter", "dragover"]) addEventListener(name, over);
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take(page, file);
  });
}

function over(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  document.body.classList.add("dropping");
}

async function take(page, file) {
  const place = byId("upload-job");
  place.hidden = false;
  const made = await shownIn(place, `Opening ${file.name}`, async (watch) => {
    check(file);
    const { id } = await page.source.upload(file);
    return followJob(page.source, id, watch);
  });
  if (made) {
    place.hidden = true;
    await page.refresh();
    page.keep({ run: made.run, beside: null, fn: null, step: null, from: null, line: null, show: null }, true);
    page.settle();
    await page.showAll();
    byId("diff").focus();
    return;
  }
  place.append(el("button", { type: "button", onclick: () => { fill(place); place.hidden = true; } }, "Close"));
  place.lastChild.focus();
}

// Checked before anything is sent.
function check(file) {
  if (!SUFFIXES.some((suffix) => file.name.toLowerCase().endsWith(suffix))) throw new Error(`${file.name} cannot be opened; expected a file with one of the suffixes ${SUFFIXES.join(", ")}`);
  if (file.size > MOST_SENT) throw new Error(`${file.name} is larger than ${MOST_SENT >> 20} MiB.`);
  if (!file.size) throw new Error(`${file.name} is empty.`);
}
