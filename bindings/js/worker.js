// A model in a worker: the page stays responsive.
//
//   import { inWorker } from "./worker.js";
//   const model = await inWorker("squeezenet.wasm", { progress });
//   const { y } = await model.run({ x: { data, shape } });
//
// What irkit.js does at once is a promise here: `run`, and `state` with `data` and `set`. Inputs
// are copied to the worker; outputs are handed over without a copy.

import { Model, ModelError, State } from "./irkit.js";

const IN_WORKER = typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope;

/** Load a model in a new worker. Its functions return promises; `close` ends the worker. */
export async function inWorker(url, { progress } = {}) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let number = 0;
  const refused = (reason) => {
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };
  worker.onmessage = ({ data: { id, done, all, value, error } }) => {
    if (done !== undefined) return progress?.(done, all);
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    return error === undefined ? resolve(value) : reject(new ModelError(error));
  };
  worker.onerror = ({ message }) => refused(new Error(message));
  const ask = (what, ...given) =>
    new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      worker.postMessage({ id: number++, what, given });
    });
  const { inputs, outputs } = await ask("load", new URL(url, location.href).href);
  const states = [];
  return {
    inputs,
    outputs,
    /** Compute all outputs, by name, from the inputs: `{ data, shape }` or a state each. */
    async run(given) {
      const sent = Object.entries(given).map(([name, tensor]) => {
        const state = states.indexOf(tensor);
        return [name, state < 0 ? tensor : { state }];
      });
      const found = await ask("run", Object.fromEntries(sent));
      for (const [name, tensor] of Object.entries(found)) {
        if (tensor.state !== undefined) found[name] = states[tensor.state].at(tensor);
      }
      return found;
    },
    /** Return memory of the model for an input that an output is written over. */
    async state(name) {
      const told = await ask("state", name);
      states[told.state] = new WorkerState(ask, name, told);
      return states[told.state];
    },
    close() {
      worker.terminate();
      refused(new ModelError("the worker of the model is closed"));
    },
  };
}

/** State that lies in the worker: `length` and `shape` are what they were after the last call. */
class WorkerState {
  #ask;
  #state;

  constructor(ask, name, told) {
    this.#ask = ask;
    this.#state = told.state;
    this.name = name;
    this.at(told);
  }

  /** Remember what the worker tells; return this. */
  at({ axis, capacity, length, shape }) {
    return Object.assign(this, { axis, capacity, length, shape });
  }

  /** Return a copy of what is in use. */
  async data() {
    return (await this.#ask("data", this.#state)).data;
  }

  /** Put in what is in use from now on: `{ data, shape }`. */
  async set(tensor) {
    return this.at(await this.#ask("set", this.#state, tensor));
  }

  /** Keep the first rows of a cache: with 0, begin anew. */
  async shorten(rows) {
    return this.at(await this.#ask("shorten", this.#state, rows));
  }
}

/** What the worker does for the page; `value` of each answer is what a function returns. */
class Served {
  #model;
  #states = [];

  async load(url) {
    const progress = (done, all) => self.postMessage({ done, all });
    this.#model = await Model.load(url, { progress });
    return { inputs: this.#model.inputs, outputs: this.#model.outputs };
  }

  run(given) {
    const inputs = Object.entries(given).map(([name, tensor]) => {
      return [name, tensor?.state === undefined ? tensor : this.#states[tensor.state]];
    });
    const found = Object.entries(this.#model.run(Object.fromEntries(inputs)));
    const told = ([name, value]) => [name, value instanceof State ? this.#told(value) : value];
    return Object.fromEntries(found.map(told));
  }

  state(name) {
    this.#states.push(this.#model.state(name));
    return this.#told(this.#states.at(-1));
  }

  data(at) {
    return { data: this.#states[at].data };
  }

  set(at, tensor) {
    this.#states[at].set(tensor);
    return this.#told(this.#states[at]);
  }

  shorten(at, rows) {
    this.#states[at].length = rows;
    return this.#told(this.#states[at]);
  }

  #told(state) {
    const { axis, capacity, length, shape } = state;
    return { state: this.#states.indexOf(state), axis, capacity, length, shape };
  }
}

if (IN_WORKER) {
  const served = new Served();
  self.onmessage = async ({ data: { id, what, given } }) => {
    try {
      const value = await served[what](...given);
      const arrays = what === "run" ? Object.values(value).map(({ data }) => data) : [value.data];
      const handed = arrays.filter((each) => each !== undefined).map(({ buffer }) => buffer);
      self.postMessage({ id, value }, handed);
    } catch (error) {
      self.postMessage({ id, error: String(error?.message ?? error) });
    }
  };
}
