"""Padding by elements of the tensor itself: mirrored, or those of the border."""

from irkit.frontend.sizes import subtract
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.graph import TensorExpr
from irkit.ir import I64


def _padded(*, mirrored: bool) -> Convert:
    """Convert a padding of the last axes, whose widths are listed from the last axis on."""

    def convert(node: AtenNode) -> TensorExpr:
        x, widths = node.tensor(0), node.wholes(1, "padding")
        if min(widths, default=0) < 0:
            raise node.fail(f"widths {widths}: negative ones are not supported")
        for at in range(len(widths) // 2):
            axis = x.rank - 1 - at
            x = _along(node, x, axis, widths[2 * at], widths[2 * at + 1], mirrored=mirrored)
        return x

    return convert


def _along(
    node: AtenNode, x: TensorExpr, axis: int, low: int, high: int, *, mirrored: bool
) -> TensorExpr:
    extent, by = node.dims(x)[axis], 1 if mirrored else 0
    parts = [x]
    if low:
        places = node.counted(low * by, low, -by, I64)
        parts.insert(0, apply("take", x, places, axis=axis))
    if high:
        places = node.counted(subtract(extent, 1 + by), high, -by, I64)
        parts.append(apply("take", x, places, axis=axis))
    return apply("concat", *parts, axis=axis) if len(parts) > 1 else x


PADS: dict[str, Convert] = {
    **{f"reflection_pad{axes}d": _padded(mirrored=True) for axes in (1, 2, 3)},
    **{f"replication_pad{axes}d": _padded(mirrored=False) for axes in (1, 2, 3)},
}
