"""Means or maxima of samples inside boxes of an image."""

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import TensorType, Value
from irkit.ir import F32, F64, I64, DType, PrimFunc, const, parse


def roi_align(node: OnnxNode) -> Value:
    """Sample each box of an image at places between its elements, and reduce the samples of each
    cell of a grid; without ``sampling_ratio``, a cell has about one for each element inside.

    Shapes: x [N, C, H, W], rois [R, 4] as left, top, right, bottom, images [R] -> [R, C, P, Q].
    Source: RoiAlign-10, without the half pixel, RoiAlign-16, RoiAlign-22.
    """
    x, rois, images = node.input(0), node.input(1), node.input(2)
    batch, channels, height, width = node.shape(x)
    count = node.shape(images)[0]
    if node.shape(rois) != (count, 4) or 0 in (batch, height, width):
        raise node.fail(f"boxes of shape {node.shape(rois)} do not fit {count} images")
    given, kind = node.dtype(x), F64 if node.dtype(x) == F64 else F32
    shape = (count, channels, node.integer("output_height", 1), node.integer("output_width", 1))
    if shape[2] < 1 or shape[3] < 1:
        raise node.fail(f"an output of {shape[2]} by {shape[3]}")
    half = node.version >= 16 and node.text("coordinate_transformation_mode") == "half_pixel"
    mode = node.text("mode", "avg")
    if mode not in ("avg", "max"):
        raise node.fail(f"mode is {mode!r}; expected avg or max")
    func = _kernel(
        (batch, channels, height, width),
        shape,
        str(kind),
        ratio=node.integer("sampling_ratio", 0),
        scale=node.number("spatial_scale", 1.0),
        half=half,
        largest=mode == "max",
    )
    args = node.cast(x, kind), node.cast(rois, kind), node.cast(images, I64)
    (made,) = node.loops(func, *args, types=[_tensor(shape, kind)])
    return node.cast(made, given)


def _tensor(shape: tuple[int, ...], dtype: DType) -> TensorType:
    return TensorType(tuple(const(dim, I64) for dim in shape), dtype)


def _kernel(
    image: tuple[int, int, int, int],
    shape: tuple[int, int, int, int],
    kind: str,
    *,
    ratio: int,
    scale: float,
    half: bool,
    largest: bool,
) -> PrimFunc:
    batch, channels, height, width = image
    boxes, _, rows, columns = shape

    def number(value: float) -> str:
        return f"{kind}({float(value)!r})"

    def side(at: int) -> str:
        return f"rois[r, {at}] * {number(scale)} - {number(0.5 if half else 0.0)}"

    def length(first: str, last: str) -> str:
        # Without the half pixel, a box is at least one element large.
        return f"{last} - {first}" if half else f"max({last} - {first}, {number(1.0)})"

    def samples(extent: str, cells: int) -> str:
        return str(ratio) if ratio > 0 else f"max(cast(ceil({extent} / {number(cells)}), i64), 0)"

    corners = [f"near_{v}_{u}" for v in ("top", "bottom") for u in ("left", "right")]
    value = f"max(max({corners[0]}, {corners[1]}), max({corners[2]}, {corners[3]}))"
    value = value if largest else " + ".join(corners)
    total = "max(y[r, c, i, j], sample[0])" if largest else "y[r, c, i, j] + sample[0]"
    start = f'{kind}("-inf")' if largest else number(0.0)
    text = f"""\
def roi_align(
    x: {kind}[{batch}, {channels}, {height}, {width}],
    rois: {kind}[{boxes}, 4],
    images: i64[{boxes}],
    y: {kind}[{boxes}, {channels}, {rows}, {columns}],
):
    for r in parallel(0, {boxes}):
        image: i64 = min(max(images[r], 0), {batch - 1})
        first_u: {kind} = {side(0)}
        first_v: {kind} = {side(1)}
        last_u: {kind} = {side(2)}
        last_v: {kind} = {side(3)}
        wide: {kind} = {length("first_u", "last_u")}
        tall: {kind} = {length("first_v", "last_v")}
        step_u: {kind} = wide / {number(columns)}
        step_v: {kind} = tall / {number(rows)}
        across: i64 = {samples("wide", columns)}
        down: i64 = {samples("tall", rows)}
        with alloc({kind}[1]) as sample:
            for c in serial(0, {channels}):
                for i in serial(0, {rows}):
                    for j in serial(0, {columns}):
                        y[r, c, i, j] = {start}
                        for a in serial(0, down):
                            for b in serial(0, across):
                                part_v: {kind} = cast(a, {kind}) + {number(0.5)}
                                part_u: {kind} = cast(b, {kind}) + {number(0.5)}
                                cell_v: {kind} = cast(i, {kind}) * step_v + first_v
                                cell_u: {kind} = cast(j, {kind}) * step_u + first_u
                                v: {kind} = cell_v + part_v * step_v / cast(down, {kind})
                                u: {kind} = cell_u + part_u * step_u / cast(across, {kind})
                                sample[0] = {number(0.0)}
                                if v >= {number(-1.0)} and v <= {number(height)}:
                                    if u >= {number(-1.0)} and u <= {number(width)}:
                                        q: {kind} = min(max(v, {number(0)}), {number(height - 1)})
                                        p: {kind} = min(max(u, {number(0)}), {number(width - 1)})
                                        top: i64 = cast(floor(q), i64)
                                        left: i64 = cast(floor(p), i64)
                                        bottom: i64 = min(top + 1, {height - 1})
                                        right: i64 = min(left + 1, {width - 1})
                                        to_bottom: {kind} = q - cast(top, {kind})
                                        to_right: {kind} = p - cast(left, {kind})
                                        to_top: {kind} = {number(1.0)} - to_bottom
                                        to_left: {kind} = {number(1.0)} - to_right
"""
    indent = " " * 40
    for name, v, u, wv, wu in (
        (corners[0], "top", "left", "to_top", "to_left"),
        (corners[1], "top", "right", "to_top", "to_right"),
        (corners[2], "bottom", "left", "to_bottom", "to_left"),
        (corners[3], "bottom", "right", "to_bottom", "to_right"),
    ):
        text += f"{indent}{name}: {kind} = {wv} * {wu} * x[image, c, {v}, {u}]\n"
    text += f"{indent}sample[0] = {value}\n"
    text += f"{' ' * 32}y[r, c, i, j] = {total}\n"
    after = " " * 24
    if largest:
        text += f"{after}if down * across == 0:\n{after}    y[r, c, i, j] = {number(0.0)}\n"
    else:
        text += f"{after}y[r, c, i, j] = y[r, c, i, j] / cast(max(down * across, 1), {kind})\n"
    return parse(text)
