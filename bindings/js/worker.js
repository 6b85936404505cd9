// A model in a worker: the page stays responsive.
//
//   import { inWorker } from "./worker.js";
//   const model = await inWorker("squeezenet.wasm", { progress });
//   const { y } = await model.run({ x: { data, shape } });

import { Model } from "./irkit.js";

const IN_WORKER = typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope;

/** Load a model in a new worker. Its `run` returns a promise; `close` ends the worker. */
export async function inWorker(url, { progress } = {}) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let number = 0;
  worker.onmessage = ({ data: { id, done, all, value, error } }) => {
    if (done !== undefined) return progress?.(done, all);
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    return error === undefined ? resolve(value) : reject(new Error(error));
  };
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
  };
  const ask = (message) =>
    new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      worker.postMessage({ id: number++, ...message });
    });
  const { inputs, outputs } = await ask({ load: new URL(url, location.href).href });
  return { inputs, outputs, run: (given) => ask({ run: given }), close: () => worker.terminate() };
}

if (IN_WORKER) {
  let model;
  self.onmessage = async ({ data: { id, load, run } }) => {
    try {
      let value;
      if (load !== undefined) {
        const progress = (done, all) => self.postMessage({ done, all });
        model = await Model.load(load, { progress });
        value = { inputs: model.inputs, outputs: model.outputs };
      } else {
        value = model.run(run);
      }
      self.postMessage({ id, value });
    } catch (error) {
      self.postMessage({ id, error: String(error?.message ?? error) });
    }
  };
}
