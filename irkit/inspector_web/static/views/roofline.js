// The roofline: speed against arithmetic intensity, both logarithmic, and each kernel as a point under it.

import { el } from "../dom.js";
import { micros } from "../jobs/costs.js";
import { svg } from "./graph_picture.js";

const SIZE = { width: 640, height: 300, left: 56, right: 16, top: 16, bottom: 36 };

const rounded = (number, digits) => Number(number.toPrecision(digits));
const rate = (perSecond, unit) => (perSecond >= 1e12 ? `${rounded(perSecond / 1e12, 2)} T${unit}` : perSecond >= 1e9 ? `${rounded(perSecond / 1e9, 3)} G${unit}` : `${rounded(perSecond / 1e6, 3)} M${unit}`);

// Points that have a place: kernels with float operations and a time.
const placed = (kernels) => kernels.filter((each) => each.flops && each.bytes && each.micros)
  .map((each) => ({ ...each, intensity: each.flops / each.bytes, speed: each.flops / (each.micros / 1e6) }));

export function rooflinePicture({ peak, bandwidth, kernels }, { chosen, labels, onKernel }) {
  const points = placed(kernels);
  const ridge = peak / bandwidth;
  const xs = [Math.min(0.1, ...points.map((each) => each.intensity / 2)), Math.max(ridge * 8, ...points.map((each) => each.intensity * 2))];
  const ys = [Math.min(peak / 1e3, ...points.map((each) => each.speed / 2)), peak * 2];
  const scale = ([low, high], from, to) => (value) => from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
  const x = scale(xs, SIZE.left, SIZE.width - SIZE.right);
  const y = scale(ys, SIZE.height - SIZE.bottom, SIZE.top);
  const start = Math.max(xs[0], ys[0] / bandwidth);
  const roof = `M${x(start)} ${y(start * bandwidth)}L${x(ridge)} ${y(peak)}L${x(xs[1])} ${y(peak)}`;
  const text = (given, words) => svg("text", given, words);
  const picture = svg("svg", { class: "roofline", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "group", "aria-label": `Roofline: at most ${rate(peak, "FLOP/s")}, ${rate(bandwidth, "B/s")}` },
    svg("path", { class: "axis", d: `M${SIZE.left} ${SIZE.top}V${SIZE.height - SIZE.bottom}H${SIZE.width - SIZE.right}` }),
    ...powers(xs).map((at) => text({ x: x(at), y: SIZE.height - SIZE.bottom + 16, "text-anchor": "middle" }, String(at))),
    ...powers(ys).map((at) => text({ x: SIZE.left - 6, y: y(at) + 4, "text-anchor": "end" }, rate(at, "").trim())),
    text({ x: SIZE.width - SIZE.right, y: SIZE.height - 4, "text-anchor": "end" }, "operations per byte"),
    text({ x: 4, y: 10 }, "FLOP/s"),
    svg("path", { class: "roof", d: roof }),
    text({ class: "limit", x: SIZE.width - SIZE.right, y: y(peak) - 6, "text-anchor": "end" }, rate(peak, "FLOP/s")),
    text({ class: "limit", x: x(Math.sqrt(start * ridge)) - 8, y: y(Math.sqrt(start * ridge) * bandwidth) - 8, "text-anchor": "end" }, rate(bandwidth, "B/s")));
  for (const each of points) {
    const name = labels?.get(each.function) ?? each.function;
    const said = `${name}: ${rate(each.speed, "FLOP/s")}, ${share(each, peak, bandwidth)} of what it could reach, ${micros(each.micros)}`;
    const isChosen = each.function === chosen;
    const dot = svg("circle", { class: `dot${isChosen ? " chosen" : ""}`, cx: x(each.intensity), cy: y(each.speed), r: isChosen ? 6 : 5, tabindex: 0, role: "button", "aria-label": said }, svg("title", {}, said));
    dot.addEventListener("click", () => onKernel(each.function));
    dot.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); onKernel(each.function); } });
    picture.append(dot);
    if (isChosen || points.length <= 3) picture.append(text({ class: "dot-name", x: x(each.intensity) + 9, y: y(each.speed) + 4 }, name));
  }
  return picture;
}

function powers([low, high]) {
  const found = [];
  for (let at = Math.ceil(Math.log10(low)); at <= Math.log10(high); at++) found.push(Number(`1e${at}`));
  return found;
}

const limitOf = ({ intensity }, peak, bandwidth) => Math.min(peak, intensity * bandwidth);
const share = (each, peak, bandwidth) => `${((100 * each.speed) / limitOf(each, peak, bandwidth)).toFixed(0)} %`;

// The same in words.
export function rooflineText({ peak, bandwidth, threads, kernels, more }, chosen) {
  const each = placed(kernels).find((one) => one.function === chosen);
  const failed = kernels.find((one) => one.function === chosen && one.message);
  const about = each ? `${micros(each.micros)} a call (middle half ${micros(each.low)} to ${micros(each.high)}): ${rate(each.speed, "FLOP/s")}, ${share(each, peak, bandwidth)} of what ${each.intensity < peak / bandwidth ? "memory" : "arithmetic"} lets ${each.intensity.toPrecision(2)} operations per byte reach. ` : failed ? `${failed.message} ` : "";
  const rest = more ? ` ${more} more kernels were not timed.` : "";
  return el("p", { class: "job-why" }, `${about}This machine: ${rate(peak, "FLOP/s")} and ${rate(bandwidth, "B/s")} with ${threads} threads, measured just before. Work is f32 operations over the bytes that must at least move; caches can lift a point above the slope, and other load on the machine lowers what is measured.${rest}`);
}
