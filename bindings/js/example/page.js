// The example page: load the model that the address names, run it, and show what is largest.

import { inWorker } from "../worker.js";

const start = performance.now();
const $ = (id) => document.getElementById(id);
const say = (text) => ($("status").textContent = text);
const seconds = () => `${((performance.now() - start) / 1000).toFixed(2)} s`;

/** The same numbers on each machine, between 0 and 1. */
function drawn(count) {
  const numbers = new Float32Array(count);
  let state = 7;
  for (let at = 0; at < count; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    numbers[at] = (state >>> 8) / 2 ** 24;
  }
  return numbers;
}

/** Scale a picture to height and width, and give its channels one after the other, from 0 to 1. */
async function channels(file, height, width) {
  const image = await createImageBitmap(file, { resizeWidth: width, resizeHeight: height });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const plane = height * width;
  return Float32Array.from({ length: 3 * plane }, (_, at) => data[(at % plane) * 4 + Math.floor(at / plane)] / 255);
}

async function show(model, given) {
  const begun = performance.now();
  const found = await model.run(given);
  const took = performance.now() - begun;
  const lines = Object.entries(found).map(([name, { data, shape }]) => {
    const order = [...data.keys()].sort((a, b) => Number(data[b]) - Number(data[a])).slice(0, 5);
    return `${name} [${shape}]: ${order.map((at) => `${at}: ${Number(data[at]).toPrecision(6)}`).join("   ")}`;
  });
  $("result").textContent = lines.join("\n");
  return took;
}

try {
  const name = new URLSearchParams(location.search).get("model") ?? "model.wasm";
  const model = await inWorker(new URL(name, location.href).href, {
    progress: (done, all) => Object.assign($("progress"), { value: done, max: Math.max(1, all) }),
  });
  say("Running it for the first time.");
  const given = {};
  for (const { name: input, dtype, shape } of model.inputs) {
    if (dtype !== "f32" || shape.some((extent) => typeof extent !== "number")) {
      throw new Error(`this page has no numbers for input ${input}: ${dtype} [${shape}]`);
    }
    given[input] = { data: drawn(shape.reduce((a, b) => a * b, 1)), shape };
  }
  const took = await show(model, given);
  say(`First result after ${seconds()}; the run took ${took.toFixed(0)} ms.`);
  const picture = model.inputs.find(({ shape }) => shape.length === 4 && shape[1] === 3);
  $("picture").disabled = picture === undefined;
  $("picture").onchange = async () => {
    const [, , height, width] = picture.shape;
    given[picture.name].data = await channels($("picture").files[0], height, width);
    say(`The run took ${(await show(model, given)).toFixed(0)} ms.`);
  };
} catch (error) {
  say(`It failed: ${error.message}`);
}
