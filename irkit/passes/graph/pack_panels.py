"""Lay out constant matrices in the panels that a product reads: some columns of all rows, in order.

Before, with ``vector_bytes=64``::

    def main(x: f64[4, 1]):
        w: f64[1, 5] = constant([1.0, 2.0, 3.0, 4.0, 5.0])
        y: f64[4, 5] = matmul(x, w)
        return y

After::

    def main(x: f64[4, 1]):
        w: f64[1, 5] = constant([1.0, 2.0, 3.0, 4.0, 5.0])
        y_panels: f64[1, 1, 8] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0])
        y: f64[4, 5] = matmul_panels(x, y_panels, columns=5)
        return y

A product reads a panel for each tile of rows, and reads it all in order: nothing is copied when the
model runs, memory is fetched ahead, and a panel never lies in few sets of a cache. Weights of 4 and
8 bits stay packed in panels (``matmul_quantized_panels``), with their scales and zero points.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from irkit.autoschedule import Machine, panel_width, quantized_width
from irkit.core import remark
from irkit.graph import (
    Array,
    ArrayData,
    GraphFunc,
    Match,
    Replacement,
    Value,
    apply_rules,
    attributes,
    constants_of,
    dtype_of_value,
    extents_of,
    graph_rule,
    hole,
    in_panels,
    op,
)
from irkit.ir import BF16, F32, DType
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def pack_panels(
    func: GraphFunc, *, vector_bytes: int = 0, machine: tuple[tuple[str, Any], ...] = ()
) -> GraphFunc:
    """Lay out the constant matrices of products in panels, as wide as the tile that is estimated to
    be the fastest.

    ``vector_bytes`` is the size of a vector register in bytes; without it, nothing changes.
    ``machine`` has other fields in which the machine differs from the generic one.
    """
    if not vector_bytes:
        return func
    widths = _Widths(Machine.with_vectors(vector_bytes).having(machine), constants_of(func))
    # A hole, since what is known to other rules is never as large as a matrix may be.
    plain, turned = hole("w"), op("transpose", hole("w"), name="turned")
    rules = [
        graph_rule(name, op("matmul", hole("x"), matrix), widths.packed, shared=True)
        for name, matrix in (("pack-panels", plain), ("pack-transposed-panels", turned))
    ]
    for bits in (4, 8):
        name = f"matmul_{bits}bit"
        parts = hole("x"), hole("w"), hole("scales")
        rules += [
            graph_rule(
                f"pack-{bits}-bits{end}", op(name, *parts, *more), widths.quantized, shared=True
            )
            for end, more in (("", ()), ("-with-zeros", (hole("zeros"),)))
        ]
    return apply_rules(func, "pack-panels", rules)


class _Widths:
    """Widths of panels of constants for a machine, each computed once."""

    def __init__(self, machine: Machine, constants: Mapping[Value, ArrayData]) -> None:
        self._machine, self._constants = machine, constants
        self._multiplies_bf16 = any("bf16" in name for name in machine.features)
        self._of = cache(self._computed)

    def _computed(self, rows: int, columns: int, steps: int, dtype: DType) -> int:
        return panel_width(rows, columns, steps, dtype, self._machine)

    def packed(self, b: Replacement, m: Match) -> Value | None:
        matrix, shape = self._constants.get(m["w"]), extents_of(m["x"])
        if matrix is None or matrix.is_absent or not shape or not m.facts.uses[m.root.var]:
            return None
        array, dtype = matrix.array, dtype_of_value(m["x"])
        if dtype is None or not dtype.is_float or array.ndim != 2 or not array.size:
            return None
        if "turned" in m and attributes(m.op("turned")).ints("axes") == (1, 0):
            array = array.T
        rows = shape[-2] if len(shape) > 1 else 1
        if dtype == BF16 and self._multiplies_bf16 and (rows is None or rows > _FEW):
            return None  # The instructions read another layout, which their schedule copies.
        steps, columns = array.shape
        # Sums of narrow floats are f32.
        width = self._of(rows or _ASSUMED, columns, steps, F32 if dtype.bits < 32 else dtype)
        count = -(-columns // width)
        if count * width > _MOST_PADDED * columns:
            remark(m.root, f"{m.root.var.name}: {columns} columns are less than half of a panel")
            return None
        written = "any number of" if rows is None else rows
        remark(
            m.root,
            f"{m.root.var.name}: {count} panels of {width} columns for {written} rows, "
            f"{count * width / columns:.2f} times the weights",
        )
        panels = b.constant(in_panels(array, width), name="panels")
        return b.op("matmul_panels", m["x"], panels, columns=columns)

    def quantized(self, b: Replacement, m: Match) -> Value | None:
        """Lay out weights of 4 or 8 bits, scales and zero points in panels."""
        x, dtype, options = m["x"], dtype_of_value(m["x"]), attributes(m.root_op)
        block, bits, shape = options.int("block"), 4 if "4" in m.root_op.name else 8, extents_of(x)
        parts = [self._array(m, name) for name in ("w", "scales", "zeros") if name in m]
        steps = shape[-1] if shape else None
        if dtype is None or steps is None or not m.facts.uses[m.root.var]:
            return None
        whole = [each for each in parts if each is not None]
        if len(whole) < len(parts) or dtype.bits > 32 or not all(each.size for each in whole):
            return None
        numbers, scales, *zeros = whole
        columns = numbers.shape[1]
        if steps % block or block * bits % 8:
            why = f"{steps} rows are no whole blocks of {block} in whole bytes"
            remark(m.root, f"{m.root.var.name}: no panels: {why}")
            return None
        # A decoder multiplies one row at a time, whatever its prompts need.
        rows = shape[-2] if len(shape) > 1 else 1
        others = [extent for extent in shape[:-2] if extent != 1]
        rows = others[0] if rows == 1 and others else rows
        width = quantized_width(rows or 1, columns, steps, F32, self._machine)
        panels = in_panels(numbers, width)
        written = "any number of" if rows is None else rows
        remark(
            m.root,
            f"{m.root.var.name}: {len(panels)} panels of {width} columns of {bits} bits for "
            f"{written} rows, scaled by blocks of {block}",
        )
        args = [x, b.constant(panels, name="panels")]
        args.append(b.constant(in_panels(scales, width), name="scales"))
        args += [b.constant(in_panels(each, width), name="zeros") for each in zeros]
        return b.op("matmul_quantized_panels", *args, columns=columns, block=block, bits=bits)

    def _array(self, m: Match, name: str) -> Array | None:
        data = self._constants.get(m[name])
        return None if data is None or data.is_absent else data.array


_MOST_PADDED = 2
_FEW = 8
"""Rows of 16-bit floats whose product waits for memory."""
_ASSUMED = 32
"""Rows of a product with any number of rows."""
