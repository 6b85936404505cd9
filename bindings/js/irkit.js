// Models that irkit compiled to WebAssembly, in a browser or in Node.
//
//   import { Model } from "./irkit.js";
//   const model = await Model.load("squeezenet.wasm", { progress: (done, all) => ... });
//   const { y } = model.run({ x: { data: new Float32Array(150528), shape: [1, 3, 224, 224] } });
//
// `irkit compile net.onnx --output-kind=wasm -o net.wasm` writes net.wasm, its plan net.json, and
// net_weights.bin. worker.js runs a model beside the page.

import { imports } from "./host.js";

/** What a tensor holds: f16 and bf16 are given as their bits. */
const ARRAYS = {
  f64: Float64Array, f32: Float32Array, f16: Uint16Array, bf16: Uint16Array,
  i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array,
  u64: BigUint64Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array, bool: Uint8Array,
};
const ALIGNMENT = 64;
const PAGE = 1 << 16;

/** Why a model cannot be loaded or run; nothing was computed. */
export class ModelError extends Error {}

const aligned = (size) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
const count = (shape) => shape.reduce((product, extent) => product * extent, 1);

export class Model {
  /**
   * Fetch a module, its plan and its weights, and make a model of them.
   *
   * `progress` is called with the bytes of weights that are there, and with all of them.
   */
  static async load(url, { progress, fetch: get = fetch } = {}) {
    const base = url.replace(/\.wasm$/, "");
    const [module, plan] = await Promise.all([
      get(url).then(checked).then((response) => response.arrayBuffer()),
      get(`${base}.json`).then(checked).then((response) => response.json()),
    ]);
    const model = await Model.make(module, plan);
    const response = checked(await get(`${base}_weights.bin`));
    await model.#fill(response, progress ?? (() => {}));
    return model;
  }

  /** Make a model of the bytes of a module and its plan; its weights are `weights`, or zeros. */
  static async make(module, plan, weights) {
    const model = new Model();
    model.plan = plan;
    model.inputs = plan.inputs;
    model.outputs = plan.outputs;
    const host = imports(() => model.#memory, (align, size) => model.#take(align, size));
    const compiled = await WebAssembly.compile(module);
    for (const { name } of WebAssembly.Module.imports(compiled)) {
      if (!(name in host)) throw new ModelError(`the model calls ${name}, which JavaScript lacks`);
    }
    const { exports } = await WebAssembly.instantiate(compiled, { env: host });
    model.#memory = exports.memory;
    model.#exports = exports;
    model.#params = model.#top = aligned(exports.__heap_base.value);
    model.#begin = model.#top = model.#params + aligned(plan.param_bytes);
    model.#reserve(model.#top);
    if (weights !== undefined) model.#set(weights, 0);
    return model;
  }

  #memory;
  #exports;
  #params = 0;
  #begin = 0;
  #top = 0;

  /**
   * Return memory of the model for an input that an output is written over, full of zeros.
   *
   * Given to `run` for that input, it stays where it is from call to call. It lives as long as the
   * model; to begin anew with a cache, set its length to 0.
   */
  state(name) {
    const { plan } = this;
    const pair = plan.state.find(([param]) => plan.inputs[param].name === name);
    if (pair === undefined) {
      const known = plan.state.map(([param]) => plan.inputs[param].name).join(", ") || "none";
      throw new ModelError(`${name} is no input with state; those are: ${known}`);
    }
    const [param, , axis, capacity] = pair;
    const { dtype, shape } = plan.inputs[param];
    const room = shape.map((extent, at) => (capacity && at === axis ? capacity : extent));
    if (room.some((extent) => typeof extent !== "number")) {
      throw new ModelError(`input ${name} has an open shape, [${room}]: give it as { data, shape }`);
    }
    const bytes = count(room) * ARRAYS[dtype].BYTES_PER_ELEMENT;
    const place = Math.ceil(this.#begin / ALIGNMENT) * ALIGNMENT;
    this.#reserve(place + bytes);
    this.#begin = place + bytes;
    new Uint8Array(this.#memory.buffer, place, bytes).fill(0); // It may have been used by a run.
    const view = () => new ARRAYS[dtype](this.#memory.buffer, place, count(room));
    return new State(this, { name, place, room, axis, capacity, view });
  }

  /**
   * Compute all outputs, by name, from the inputs: `{ data, shape }` or a `State` each, or a typed
   * array alone where the shape is not open.
   */
  run(inputs) {
    const { plan } = this;
    for (const name of Object.keys(inputs)) {
      if (!plan.inputs.some((spec) => spec.name === name)) {
        const known = plan.inputs.map((spec) => spec.name).join(", ");
        throw new ModelError(`${name} is no input; the inputs are: ${known}`);
      }
    }
    const caches = new Set(plan.state.filter((pair) => pair[3]).map(([param]) => param));
    const given = plan.inputs.map((spec, at) =>
      inputs[spec.name] instanceof State
        ? inputs[spec.name].checkedFor(this, spec)
        : checkedInput(spec, inputs[spec.name], caches.has(at)),
    );
    this.#top = this.#begin;
    const sizes = this.#sizes(given);
    const known = sizes.read();
    const size = (each) => (typeof each === "number" ? each : known.get(each));
    given.forEach((tensor, at) => checkShape(plan.inputs[at], tensor.shape, size));
    const written = new Map(plan.state.map(([param, result]) => [result, param]));
    const needed = size(plan.memory);
    if (needed > Math.min(plan.memory_limit, 2 ** 32 - this.#begin)) {
      throw new ModelError(`a call needs ${needed} bytes, more than there may be`);
    }
    for (const [param, result, axis, capacity] of plan.state) {
      const rows = size(plan.outputs[result].shape[axis] ?? 0);
      if (capacity && rows > capacity) {
        throw new ModelError(
          `the cache ${plan.inputs[param].name} is full: output ${plan.outputs[result].name} has ` +
            `${rows} rows along axis ${axis}, and there is room for ${capacity}`,
        );
      }
    }
    const inputPlaces = given.map((tensor) =>
      tensor instanceof State ? tensor.place : this.#take(ALIGNMENT, tensor.data.byteLength),
    );
    // An output whose size the run decides has room for the largest one.
    const rooms = plan.outputs.map((spec, at) => (plan.capacities[at] ?? spec.shape).map(size));
    const outputPlaces = plan.outputs.map((spec, at) =>
      written.has(at)
        ? inputPlaces[written.get(at)]
        : this.#take(ALIGNMENT, count(rooms[at]) * ARRAYS[spec.dtype].BYTES_PER_ELEMENT),
    );
    const arena = this.#take(ALIGNMENT, size(plan.arena_bytes));
    const tables = [inputPlaces, outputPlaces].map((places) => this.#table(places));
    given.forEach((tensor, at) => {
      if (!(tensor instanceof State)) {
        this.#bytes(inputPlaces[at], tensor.data).set(bytesOf(tensor.data));
      }
    });
    const status = this.#exports.irkit_run(...tables, this.#params, arena, sizes.place);
    if (status) this.#fail(status, sizes.read());
    const after = sizes.read();
    const found = {};
    plan.outputs.forEach((spec, at) => {
      const shape = spec.shape.map((each) => (typeof each === "number" ? each : after.get(each)));
      const before = written.has(at) ? given[written.get(at)] : undefined;
      if (before instanceof State) {
        if (before.capacity) before.length = shape[before.axis];
        found[spec.name] = before;
        return;
      }
      const data = new ARRAYS[spec.dtype](count(shape));
      bytesOf(data).set(this.#bytes(outputPlaces[at], data));
      found[spec.name] = { data, shape };
      before?.data.set(data);
    });
    return found;
  }

  /** Bind the dimensions to the shapes of the inputs, and compute what depends on them. */
  #sizes(given) {
    const { plan } = this;
    const bound = new Map();
    plan.inputs.forEach((spec, at) =>
      spec.shape.forEach((extent, axis) => {
        if (!plan.dims.some((dim) => dim.name === extent)) return;
        const found = given[at].shape[axis];
        if (bound.has(extent) && bound.get(extent) !== found) {
          throw new ModelError(
            `axis ${axis} of input ${spec.name} is ${found}, but ${extent} is ${bound.get(extent)}`,
          );
        }
        bound.set(extent, found);
      }),
    );
    for (const { name, least, most } of plan.dims) {
      const found = bound.get(name);
      if (found < least || found > most) {
        throw new ModelError(`${name} is ${found}, but it must be from ${least} to ${most}`);
      }
    }
    const steps = plan.measured.flatMap((each) => [each, ...each.steps]);
    const names = [...plan.dims, ...plan.sizes, ...steps].map((each) => each.name);
    // Loops in which a size is measured store the number of their iteration behind.
    plan.regions.forEach((region, at) => {
      const inside = ({ after }) => region.begin <= after && after < region.end;
      if (region.type === "Repeat" && plan.measured.some(inside)) names.push(`iteration ${at}`);
    });
    const place = this.#take(ALIGNMENT, 8 * Math.max(1, names.length));
    const table = () => new BigInt64Array(this.#memory.buffer, place, names.length);
    plan.dims.forEach(({ name }, at) => (table()[at] = BigInt(bound.get(name))));
    if (plan.dims.length) {
      const bad = Number(this.#exports.irkit_sizes(place));
      if (bad) throw new ModelError(`the sizes do not work: ${plan.sizes[bad - 1].what}`);
    }
    return { place, read: () => new Map(names.map((name, at) => [name, Number(table()[at])])) };
  }

  #fail(status, sizes) {
    if (status < 0n) {
      const { what, name } = this.plan.measured[Number(-status & 0xffffffffn) - 1];
      throw new ModelError(`${what} makes ${sizes.get(name)} rows, for which there is no room`);
    }
    const call = this.plan.calls[Number(status >> 32n) - 1];
    const own = Number(BigInt.asIntN(32, status));
    if (own === -1) throw new ModelError(`kernel ${call.kernel} found no memory`);
    const said = this.plan.messages[call.kernel]?.[own - 1] ?? `it returned ${own}`;
    throw new ModelError(`kernel ${call.kernel}, for ${call.node}, stopped: ${said}`);
  }

  /** Return the place of new memory, which is in use until the next run. */
  #take(align, size) {
    const place = Math.ceil(this.#top / align) * align;
    this.#top = place + size;
    this.#reserve(this.#top);
    return place;
  }

  #reserve(end) {
    const missing = end - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.#memory.grow(Math.ceil(missing / PAGE));
    } catch {
      throw new ModelError(`there is no memory for ${end} bytes`);
    }
  }

  #table(places) {
    const at = this.#take(ALIGNMENT, 4 * Math.max(1, places.length));
    new Uint32Array(this.#memory.buffer, at, places.length).set(places);
    return at;
  }

  #bytes(place, { byteLength }) {
    return new Uint8Array(this.#memory.buffer, place, byteLength);
  }

  #set(bytes, at) {
    if (at + bytes.byteLength > this.plan.param_bytes) throw this.#otherWeights();
    new Uint8Array(this.#memory.buffer, this.#params + at, bytes.byteLength).set(bytes);
  }

  #otherWeights() {
    return new ModelError(`these are other weights: expected ${this.plan.param_bytes} bytes`);
  }

  async #fill(response, progress) {
    const all = this.plan.param_bytes;
    let done = 0;
    progress(done, all);
    for await (const part of chunks(response)) {
      this.#set(part, done);
      done += part.byteLength;
      progress(done, all);
    }
    if (done !== all) throw this.#otherWeights();
  }
}

/**
 * Memory of a model that an output is written to, over the input; `Model.state` makes it.
 *
 * A cache has a `capacity` of rows along an `axis`, of which the first `length` are in use; a run
 * appends rows. Other state has a capacity of 0.
 */
export class State {
  #model;
  #room;
  #view;
  #length = 0;

  constructor(model, { name, place, room, axis, capacity, view }) {
    Object.assign(this, { name, place, axis, capacity });
    for (const field of ["name", "place", "axis", "capacity"]) {
      Object.defineProperty(this, field, { writable: false });
    }
    this.#model = model;
    this.#room = room;
    this.#view = view;
  }

  get length() {
    return this.#length;
  }

  set length(rows) {
    if (!Number.isSafeInteger(rows) || rows < 0 || rows > this.capacity) {
      throw new ModelError(`${this.name} has room for ${this.capacity} rows, not for ${rows}`);
    }
    this.#length = rows;
  }

  /** The shape of what is in use. */
  get shape() {
    return this.#room.map((extent, at) =>
      this.capacity && at === this.axis ? this.#length : extent,
    );
  }

  /** A copy of what is in use, as outputs are: in rows without gaps. */
  get data() {
    const view = this.#view();
    if (!this.capacity) return view.slice();
    const made = new view.constructor(count(this.shape));
    this.#parts((from, to, size) => made.set(view.subarray(from, from + size), to));
    return made;
  }

  /** Put in what is in use from now on: `{ data, shape }`, as `run` takes inputs. */
  set({ data, shape }) {
    const view = this.#view();
    const fits = (extent, at) =>
      this.capacity && at === this.axis ? extent <= this.capacity : extent === this.#room[at];
    const isShape = Array.isArray(shape) && shape.length === this.#room.length && shape.every(fits);
    if (!(data instanceof view.constructor) || !isShape || data.length !== count(shape)) {
      throw new ModelError(
        `${this.name} holds ${view.constructor.name} of at most [${this.#room}], found ` +
          `${data?.constructor?.name} of [${shape}]`,
      );
    }
    if (this.capacity) this.length = shape[this.axis];
    this.#parts((to, from, size) => view.set(data.subarray(from, from + size), to));
  }

  /** Call with the place in memory, the place without gaps, and the size, of each part in use. */
  #parts(call) {
    const axis = this.capacity ? this.axis : 0;
    const inner = count(this.#room.slice(axis + 1));
    const all = this.#room.length ? this.#room[axis] * inner : 1;
    const used = this.capacity ? this.#length * inner : all;
    const parts = count(this.#room.slice(0, axis));
    for (let at = 0; at < parts; at++) call(at * all, at * used, used);
  }

  /** Return this state if it is the model's, for the input of a name. */
  checkedFor(model, { name }) {
    if (this.#model !== model || this.name !== name) {
      throw new ModelError(`input ${name} was given the state of input ${this.name}, or of another model`);
    }
    return this;
  }
}

function checked(response) {
  if (!response.ok) throw new ModelError(`${response.url} cannot be loaded: ${response.status}`);
  return response;
}

async function* chunks(response) {
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

function bytesOf({ buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function checkedInput(spec, tensor, isCache) {
  if (tensor === undefined) throw new ModelError(`input ${spec.name} is missing`);
  if (isCache) {
    throw new ModelError(`input ${spec.name} is a cache: give it model.state("${spec.name}")`);
  }
  // Numbers alone are a tensor of the input's shape; one that is open is refused below.
  const { data, shape } = ArrayBuffer.isView(tensor) ? { data: tensor, shape: spec.shape } : tensor;
  const wanted = ARRAYS[spec.dtype];
  if (!(data instanceof wanted)) {
    const found = data?.constructor?.name ?? typeof data;
    throw new ModelError(`input ${spec.name} is of ${spec.dtype}: expected ${wanted.name}, found ${found}`);
  }
  const isShape = Array.isArray(shape) && shape.every((n) => Number.isSafeInteger(n) && n >= 0);
  if (!isShape || shape.length !== spec.shape.length || count(shape) !== data.length) {
    throw new ModelError(
      `input ${spec.name}: expected [${spec.shape}], found [${shape}] with ${data.length} elements`,
    );
  }
  return { data, shape };
}

function checkShape(spec, found, size) {
  if (spec.shape.some((extent, axis) => size(extent) !== found[axis])) {
    throw new ModelError(
      `input ${spec.name}: expected [${spec.shape.map(size)}], found [${found}]`,
    );
  }
}
