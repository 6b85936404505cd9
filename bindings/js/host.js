// What a module of WebAssembly needs from its host: memory, and functions of the C library.

const MASK = (1n << 64n) - 1n;

/** The functions by name. `memory` and `take` are those of a model; memory lives until its next run. */
export function imports(memory, take) {
  const bytes = () => new Uint8Array(memory().buffer);
  const copy = (to, from, size) => {
    bytes().copyWithin(to, from, from + size);
    return to;
  };
  return {
    aligned_alloc: (align, size) => take(Number(align), Number(size)), // Sizes have 64 bits.
    free: () => {},
    memcpy: copy,
    memmove: copy,
    memset: (to, byte, size) => {
      bytes().fill(byte, to, to + size);
      return to;
    },
    // The product of two integers of 128 bits, each given as its halves.
    __multi3: (to, aLow, aHigh, bLow, bHigh) => {
      const whole = (low, high) => (low & MASK) | (high << 64n);
      const product = whole(aLow, aHigh) * whole(bLow, bHigh);
      const view = new DataView(memory().buffer);
      view.setBigUint64(to, product & MASK, true);
      view.setBigUint64(to + 8, (product >> 64n) & MASK, true);
    },
  };
}
