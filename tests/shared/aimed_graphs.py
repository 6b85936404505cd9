"""Graphs with what single passes look for, drawn at random."""

from typing import Any

import numpy as np

from irkit.fuzz.picks import Picks
from irkit.graph import Builder, GraphFunc, Value
from irkit.ir import as_dtype, numpy_dtype

BYTES: dict[str, Any] = {"u8": np.uint8, "i8": np.int8}


class QuantizedGraph:
    """A graph of dequantised bytes, what multiplies them, and what quantises them again."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.rng = np.random.default_rng(picks.below(1 << 16))
        self.b = Builder("main")

    def draw(self) -> GraphFunc:
        form = self.picks.pick((self.product, self.convolution, self.pooled))
        results = [form()]
        if self.picks.below(2):
            results.append(self.quantized(results[0]))
        return self.b.finish(*results)

    def bytes(self, *shape: int) -> Any:
        kind = BYTES[self.picks.pick(tuple(BYTES))]
        return self.rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)

    def param(self, *shape: int) -> Value:
        return self.b.param("x", shape, self.picks.pick(tuple(BYTES)))

    def scale(self, *shape: int) -> Any:
        """Draw powers of two: products with them are exact, in any order."""
        return (2.0 ** self.rng.integers(-3, 3, shape)).astype(np.float32)

    def dequantized(self, x: Value, *axes: int) -> Value:
        """Scale a tensor, perhaps by more than one number, perhaps from another zero point."""
        many = axes if self.picks.below(2) else ()
        wide = self.b.op("cast", x, dtype="i32")
        if self.picks.below(2):
            zero = self.b.constant(np.asarray(self.bytes(*many)).astype(np.int32))
            wide = self.b.op("subtract", wide, zero)
        scale = self.b.constant(self.scale(*many))
        return self.b.op("multiply", self.b.op("cast", wide, dtype="f32"), scale)

    def quantized(self, x: Value) -> Value:
        scaled = self.b.op(
            "divide", x, self.b.constant(np.float32(2.0 ** self.picks.between(0, 9)))
        )
        rounded = self.b.op("round", scaled)
        return self.b.op("cast", rounded, dtype=self.picks.pick(tuple(BYTES)))

    def product(self) -> Value:
        x = self.dequantized(self.param(3, 5), *((3, 1) if self.picks.one_in(4) else ()))
        w = self.dequantized(self.b.constant(self.bytes(5, 4)), 1, 4)
        if self.picks.below(2):
            return self.b.op("matmul", x, w)
        turned = self.dequantized(self.b.constant(self.bytes(4, 5)), 4, 1)
        return self.b.op("matmul", x, self.b.op("transpose", turned, axes=(1, 0)))

    def convolution(self) -> Value:
        groups = self.picks.pick((1, 2))
        x = self.dequantized(self.param(1, 2, 5, 4))
        w = self.dequantized(self.b.constant(self.bytes(4, 2 // groups, 3, 2)), 4, 1, 1, 1)
        bias = [self.b.constant(self.scale(4))] if self.picks.below(2) else []
        window = {"pads": (1, 0, 0, 1)} if self.picks.below(2) else {}
        return self.b.op("conv", x, w, *bias, groups=groups, **window)

    def pooled(self) -> Value:
        x = self.dequantized(self.param(1, 2, 5, 4))
        pooled = self.b.op("max_pool", x, kernel=(2, 2))
        return self.b.op("reshape", pooled, shape=(2, -1)) if self.picks.below(2) else pooled


def quantized_graph(picks: Picks) -> GraphFunc:
    return QuantizedGraph(picks).draw()


def integer_products(picks: Picks) -> GraphFunc:
    """Multiply bytes, less zero points, by constant weights."""
    q = QuantizedGraph(picks)
    conv = bool(picks.below(2))
    x = q.param(*((1, 2, 5, 4) if conv else (3, 5)))
    w = q.b.constant(q.bytes(4, 2, 3, 2) if conv else q.bytes(5, 4))
    zero = q.b.constant(np.asarray(q.bytes()).astype(np.int16))
    if not conv and picks.below(2):
        zero = q.b.op("cast", q.b.param("zero", (3, 1), "i8"), dtype="i16")
    centred = q.b.op("subtract", q.b.op("cast", x, dtype="i16"), zero)
    if picks.below(2):
        w = q.b.op("cast", w, dtype="i16")
    window = {"pads": (1, 0, 0, 1)} if conv and picks.below(2) else {}
    return q.b.finish(q.b.op("conv_integer" if conv else "matmul_integer", centred, w, **window))


def packed_products(picks: Picks) -> GraphFunc:
    """Multiply by weights of 4 bits, or 8, with scales."""
    rng, b = np.random.default_rng(picks.below(1 << 16)), Builder("main")
    rows, columns, turned = picks.pick((4, 3, 6)), picks.pick((4, 1)), bool(picks.below(2))
    x = b.param("x", (picks.pick((1, 3)), rows), picks.pick(("f32", "f16")))
    kind = picks.pick((np.int8, np.uint8))
    most = picks.pick((8, 8, 128))
    w = rng.integers(-most if kind is np.int8 else 0, most, (rows, columns)).astype(kind)
    scale = 2.0 ** rng.integers(-1, 2, picks.pick(((), (1, columns), (rows, columns))))
    wide = b.op("cast", b.constant(w.T if turned else w), dtype="i32")
    if picks.below(2):
        wide = b.op("subtract", wide, b.constant(np.array(picks.below(12), np.int32)))
    scales = scale.T if turned else scale
    product = b.op("multiply", b.op("cast", wide, dtype="f32"), b.constant(scales.astype("f")))
    product = b.op("cast", product, dtype=x.type.dtype)
    product = b.op("transpose", product, axes=(1, 0)) if turned else product
    return b.finish(b.op("matmul", x, product))


def constant_products(picks: Picks) -> GraphFunc:
    """Multiply vectors, matrices and batches by a constant matrix, twice by one."""
    rng, b = np.random.default_rng(picks.below(1 << 16)), Builder("main")
    steps, columns = picks.between(1, 9), picks.pick((1, 3, 16, 17, 40, 100))
    kind = picks.pick(("f32", "f64", "f16"))
    numbers = numpy_dtype(as_dtype(kind))
    rows = picks.pick(((), (1,), (5,), (2, 3)))
    x = b.param("x", (*rows, steps), kind)
    w = b.constant(rng.integers(-8, 8, (steps, columns)).astype(numbers))
    product = b.op("matmul", x, w)
    again = b.op("matmul", b.op("relu", x), w) if picks.below(2) else product
    bias = b.constant(rng.integers(-8, 8, columns).astype(numbers))
    return b.finish(b.op("add", product, bias), again)


AIMED_GRAPHS = (quantized_graph, integer_products, packed_products, constant_products)
