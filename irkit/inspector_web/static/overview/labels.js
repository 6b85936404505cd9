// Kernels in the user's words: the layer that the weights belong to, or the node, or the kernel.
export function labelsOf(infos) {
  const seen = new Map();
  const made = new Map();
  for (const { name, weights } of infos) {
    const label = weights || name;
    const time = (seen.get(label) ?? 0) + 1;
    seen.set(label, time);
    made.set(name, time > 1 ? `${label} (${time})` : label);
  }
  return made;
}
