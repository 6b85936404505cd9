"""Operators that rearrange tensors without arithmetic."""

from irkit.frontend.onnx.convert.math.shaped import reshape as reshaped, shaped
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, multiply
from irkit.graph import Value, quotient, same_extent, written
from irkit.ir import as_int, product


def reshape(node: OnnxNode) -> Value:
    """Reshape a tensor; 0 keeps a dimension, and one dimension of -1 is inferred.

    Source: Reshape-1 (shape is an attribute) to Reshape-25; with ``allowzero`` a 0 means 0.
    """
    x = node.input(0)
    target: tuple[Dim, ...] | None = (
        node.integers("shape", ()) if node.version < 5 else node.sizes(1, "shape")
    )
    if target is None:
        raise node.fail("input 1, the shape, is missing")
    old = node.dims(x)
    if not (node.version >= 14 and node.integer("allowzero", 0)):
        if any(dim == 0 and at >= len(old) for at, dim in enumerate(target)):
            raise node.fail(
                f"shape {written(target)} keeps a dimension that the input {written(old)} does not "
                "have"
            )
        target = tuple(old[at] if dim == 0 else dim for at, dim in enumerate(target))
    if target.count(-1) > 1 or any(isinstance(dim, int) and dim < -1 for dim in target):
        raise node.fail(f"{written(target)} is not a shape")
    if -1 in target:
        hole = target.index(-1)
        rest = quotient(old, [*target[:hole], *target[hole + 1 :]])
        if rest is None:
            raise node.fail(f"cannot reshape {written(old)} to {written(target)}")
        target = (*target[:hole], rest, *target[hole + 1 :])
    return reshaped(node, x, target)


def flatten(node: OnnxNode) -> Value:
    """Reshape to a matrix: the dimensions before ``axis``, and those from it on.

    Source: Flatten-1 to Flatten-25.
    """
    x = node.input(0)
    dims = node.dims(x)
    axis = node.axis(node.integer("axis", 1), len(dims), end=True)
    return reshaped(node, x, (product(dims[:axis]), product(dims[axis:])))


def _axes(node: OnnxNode) -> tuple[int, ...] | None:
    """Return axes, which are an input from version 13 on and an attribute before."""
    if node.version >= 13:
        return node.ints(1, "axes")
    return node.integers("axes", ()) if node.has("axes") else None


def squeeze(node: OnnxNode) -> Value:
    """Drop dimensions of extent 1: those in ``axes``, or all.

    Source: Squeeze-1 to Squeeze-25.
    """
    x = node.input(0)
    shape = node.dims(x)
    given = _axes(node)
    if given is None:
        dropped = {at for at, dim in enumerate(node.constants(x, shape)) if dim == 1}
    else:
        dropped = {node.axis(axis, len(shape)) for axis in given}
    wrong = next((at for at in sorted(dropped) if shape[at] != 1), None)
    if wrong is not None:
        extent = written(shape[wrong : wrong + 1])[1:-1]
        raise node.fail(
            f"cannot drop axis {wrong} of {written(shape)}: its extent is {extent}, not 1"
        )
    return reshaped(node, x, tuple(dim for at, dim in enumerate(shape) if at not in dropped))


def unsqueeze(node: OnnxNode) -> Value:
    """Insert dimensions of extent 1 at these axes of the result.

    Source: Unsqueeze-1 to Unsqueeze-25.
    """
    x = node.input(0)
    given = _axes(node)
    if given is None:
        raise node.fail("the axes are missing")
    rank = node.rank(x) + len(given)
    places = {node.axis(axis, rank) for axis in given}
    if len(places) != len(given):
        raise node.fail(f"axes {given} name an axis twice")
    rest = iter(node.dims(x))
    return reshaped(node, x, tuple(1 if at in places else next(rest) for at in range(rank)))


def transpose(node: OnnxNode) -> Value:
    """Permute dimensions; by default, reverse them.

    Source: Transpose-1 to Transpose-25.
    """
    x = node.input(0)
    axes = node.integers("perm", tuple(reversed(range(node.rank(x)))))
    if sorted(axes) != list(range(node.rank(x))):
        raise node.fail(f"perm {axes} is not a permutation of {node.rank(x)} dimensions")
    return node.op("transpose", x, axes=axes)


def concat(node: OnnxNode) -> Value:
    """Join tensors along an axis.

    Source: Concat-1 (default axis 1) to Concat-13.
    """
    inputs = [node.input(at) for at in range(len(node.inputs))]
    if not inputs:
        raise node.fail("it has no inputs")
    axis = node.integer("axis", 1) if node.version < 4 else node.integer("axis")
    return node.op("concat", *inputs, axis=node.axis(axis, node.rank(inputs[0])))


def expand(node: OnnxNode) -> Value:
    """Broadcast a tensor with a shape, in which a 1 keeps the dimension of the tensor.

    Source: Expand-8, Expand-13.
    """
    x, wanted = node.input(0), node.sizes(1, "shape")
    if wanted is None or any(isinstance(dim, int) and dim < 0 for dim in wanted):
        raise node.fail(f"{wanted} is not a shape")
    have = node.dims(x)
    rank = max(len(have), len(wanted))
    pairs = zip((1,) * (rank - len(have)) + have, (1,) * (rank - len(wanted)) + wanted, strict=True)
    target = tuple(new if old == 1 else old for old, new in pairs)
    node.check_size([dim for dim in map(as_int, target) if dim is not None])
    padded = shaped(node, "broadcast_to", x, shape=target)
    if any(
        not same_extent(new, 1) and not same_extent(new, dim)
        for new, dim in zip(wanted[::-1], target[::-1], strict=False)
    ):
        raise node.fail(f"{written(have)} does not broadcast with {written(wanted)}")
    return padded


def tile(node: OnnxNode) -> Value:
    """Repeat a tensor along each axis.

    Source: Tile-1 (a number of tiles along one axis) to Tile-13.
    """
    x = node.input(0)
    is_open = not all(isinstance(dim, int) for dim in node.dims(x))
    if node.version >= 6 and (is_open or node.is_of_dimensions(1)):
        return _open_tile(node, x)
    shape = node.shape(x)
    if node.version < 6:
        tiles, axes = node.ints(1, "tiles"), node.ints(2, "axis")
        if tiles is None or axes is None or len(tiles) != 1 or len(axes) != 1:
            raise node.fail("tiles and axis must be one number each")
        axis = node.axis(axes[0], len(shape))
        repeats = tuple(tiles[0] if at == axis else 1 for at in range(len(shape)))
    else:
        repeats = node.ints(1, "repeats") or ()
    if len(repeats) != len(shape) or any(count < 0 for count in repeats):
        raise node.fail(f"repeats {repeats} must be one number for each of {len(shape)} axes")
    whole = tuple(count * dim for count, dim in zip(repeats, shape, strict=True))
    node.check_size(whole)
    apart = tuple(each for dim in shape for each in (1, dim))
    wide = tuple(each for pair in zip(repeats, shape, strict=True) for each in pair)
    x = node.op("broadcast_to", node.op("reshape", x, shape=apart), shape=wide)
    return node.op("reshape", x, shape=whole)


def _open_tile(node: OnnxNode, x: Value) -> Value:
    """Repeat a tensor along one axis after the other, as often as numbers or dimensions say."""
    repeats, dims = node.sizes(1, "repeats") or (), [*node.dims(x)]
    if len(repeats) != len(dims) or any(isinstance(each, int) and each < 0 for each in repeats):
        raise node.fail(f"repeats {written(repeats)} must be one number for each axis")
    for axis, count in enumerate(repeats):
        if count == 1:
            continue
        wide = node.op("expand_dims", x, axes=(axis,))
        wide = shaped(node, "broadcast_to", wide, shape=[*dims[:axis], count, *dims[axis:]])
        dims[axis] = multiply(count, dims[axis])
        x = reshaped(node, wide, dims)
    return x


def depth_to_space(node: OnnxNode) -> Value:
    """Move blocks of channels to blocks of pixels.

    Source: DepthToSpace-1 to DepthToSpace-28.
    """
    x, size, mode = _blocks(node)
    n, c, h, w = node.shape(x)
    if c % size**2:
        raise node.fail(f"{c} channels are no blocks of {size} x {size}")
    depth = c // size**2
    if mode == "DCR":
        parts = node.op("reshape", x, shape=(n, size, size, depth, h, w))
        parts = node.op("transpose", parts, axes=(0, 3, 4, 1, 5, 2))
    else:
        parts = node.op("reshape", x, shape=(n, depth, size, size, h, w))
        parts = node.op("transpose", parts, axes=(0, 1, 4, 2, 5, 3))
    return node.op("reshape", parts, shape=(n, depth, h * size, w * size))


def space_to_depth(node: OnnxNode) -> Value:
    """Move blocks of pixels to blocks of channels.

    Source: SpaceToDepth-1 to SpaceToDepth-28; before version 28 the mode is DCR.
    """
    x, size, mode = _blocks(node)
    n, c, h, w = node.shape(x)
    if h % size or w % size:
        raise node.fail(f"{h} x {w} pixels are no blocks of {size} x {size}")
    parts = node.op("reshape", x, shape=(n, c, h // size, size, w // size, size))
    axes = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = node.op("transpose", parts, axes=axes)
    return node.op("reshape", parts, shape=(n, c * size**2, h // size, w // size))


def _blocks(node: OnnxNode) -> tuple[Value, int, str]:
    x, size, mode = node.input(0), node.integer("blocksize"), node.text("mode", "DCR")
    if node.rank(x) != 4 or size < 1 or mode not in ("DCR", "CRD"):
        raise node.fail(
            f"x has rank {node.rank(x)}, blocksize is {size} and mode {mode!r}; expected rank 4, "
            "a size of at least 1, and DCR or CRD"
        )
    return x, size, mode
