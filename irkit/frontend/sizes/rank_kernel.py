"""A loop function that finds the first elements of a tensor in order."""

from irkit.frontend.sizes.arithmetic import Dim
from irkit.frontend.sizes.kernel_dims import KernelDims
from irkit.ir import DType, PrimFunc, parse


def rank_kernel(
    dims: tuple[Dim, ...],
    axis: int,
    count: Dim,
    dtype: DType,
    *,
    largest: bool,
    asker: str,
    values: bool = True,
) -> PrimFunc:
    """Return a function that counts, for each element, those that come before it: of equal ones the
    first does, and NaN is largest. It stores the first ``count``, if ``values``, and where they
    are; with fewer elements it fails in the name of ``asker``."""
    named = KernelDims()
    extents, most = [named(dim) for dim in dims], named(count)
    shape = ", ".join(most if at == axis else extent for at, extent in enumerate(extents))
    own, other = (
        f"x[{', '.join(each if at == axis else f'i{at}' for at in range(len(dims)))}]"
        for each in ("a", "b")
    )
    to = ", ".join("s[0]" if at == axis else f"i{at}" for at in range(len(dims)))
    before, same = f"{other} {'>' if largest else '<'} {own}", f"{other} == {own}"
    if dtype.is_float:
        above, below = (other, own) if largest else (own, other)
        before = f"{before} or isnan({above}) and not isnan({below})"
        same = f"{same} or isnan({own}) and isnan({other})"
    around = [at for at in range(len(dims)) if at != axis]
    inside = "    " * (2 + len(around))
    kept = f"y: {dtype}[{shape}], " if values else ""
    fewer = f"there are fewer elements than {asker} is to return"
    lines = [
        f"def find_first(x: {dtype}[{', '.join(extents)}], {kept}places: i64[{shape}]):",
        f'    assert {most} <= {extents[axis]}, "{fewer}"',
        "    with alloc(i64[1]) as s:",
        *(
            f"{'    ' * (2 + depth)}for i{at} in serial(0, {extents[at]}):"
            for depth, at in enumerate(around)
        ),
        f"{inside}for a in serial(0, {extents[axis]}):",
        f"{inside}    s[0] = 0",
        f"{inside}    for b in serial(0, {extents[axis]}):",
        f"{inside}        if {before} or b < a and ({same}):",
        f"{inside}            s[0] = s[0] + 1",
        f"{inside}    if s[0] < {most}:",
        *([f"{inside}        y[{to}] = {own}"] if values else []),
        f"{inside}        places[{to}] = a",
    ]
    return parse("\n".join(lines) + "\n")
