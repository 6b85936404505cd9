// Open the source of a pass in an editor, by the address that the chosen editor listens to.

import { byId, copyText, el } from "./dom.js";

const ADDRESSES = {
  vscode: (file, line) => `vscode://file${file}:${line}`,
  cursor: (file, line) => `cursor://file${file}:${line}`,
  zed: (file, line) => `zed://file${file}:${line}`,
  idea: (file, line) => `idea://open?file=${file}&line=${line}`,
};

export function startEditor(source) {
  const choice = byId("editor");
  byId("editor-field").hidden = !source.canOpenEditor;
  try { choice.value = localStorage.getItem("irkit-editor") || "vscode"; } catch { /* A private window remembers nothing. */ }
  if (!choice.value) choice.value = "vscode";
  choice.addEventListener("change", () => { try { localStorage.setItem("irkit-editor", choice.value); } catch { /* As above. */ } });
}

// A button for the pass of a step; at `line` of its file, if that is another one.
export function editorButton(source, run, step, line = 0) {
  if (!source.canOpenEditor) return null;
  return el("button", { type: "button", class: "open-editor", onclick: (event) => open(source, run, step, line, event.currentTarget) }, "Open in editor");
}

async function open(source, run, step, line, button) {
  try {
    const place = await source.editor(run, step);
    const at = line || place.line;
    const address = ADDRESSES[byId("editor").value];
    if (!address) { await copyText(`${place.file}:${at}`, button); return; }
    location.href = address(encodeURI(place.file.replaceAll("\\", "/").replace(/^(?!\/)/, "/")), at);
  } catch (error) {
    button.textContent = error.message;
  }
}
