"""What algebra says about index maps is true of all their points, and usual maps need no more."""

from itertools import product

from hypothesis import given, settings, strategies as st

from irkit.ir import I64, Expr, Var, const
from irkit.schedule.analysis.index_digits import determined
from tests.draws import few_or_all

NAMES = "ijk"


def image_of(texts: list[str], sizes: list[int | None]) -> tuple[list[Expr], dict[Var, int | None]]:
    """Read the items of an index map over ``i``, ``j`` and ``k``."""
    axes = {name: Var(name) for name in NAMES[: len(sizes)]}
    read: list[Expr | int] = [eval(text, {}, dict(axes)) for text in texts]
    items = [const(item, I64) if isinstance(item, int) else item for item in read]
    return items, dict(zip(axes.values(), sizes, strict=True))


def are_determined(names: set[str], texts: list[str], sizes: list[int]) -> bool:
    """Return True if points with the same image agree in some variables, by Python's numbers."""
    code = compile(f"({', '.join(texts)},)", "map", "eval")
    seen: dict[object, object] = {}
    for point in product(*map(range, sizes)):
        at = dict(zip(NAMES, point, strict=False))
        mine = tuple(at[name] for name in sorted(names))
        if seen.setdefault(eval(code, {}, at), mine) != mine:
            return False
    return True


NUMBERS = st.integers(1, 9)


@st.composite
def terms(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a sum of quotients, remainders and multiples."""
    kind = draw(st.sampled_from(["var", "+", "-", "//", "%", "*"])) if depth else "var"
    if kind == "var":
        return draw(st.sampled_from(NAMES))
    one = draw(terms(depth - 1))
    if kind in "+-":
        return f"({one} {kind} {draw(terms(depth - 1))})"
    return f"({one} {kind} {draw(NUMBERS)})"


@st.composite
def digits(draw: st.DrawFn) -> str:
    """Draw one digit of a variable or of a fused index, or a fused index."""
    one = draw(st.sampled_from([*NAMES, "(i * 6 + j)", "(j * 4 + k)", "(i * 5 + j + 3)"]))
    div, mod = draw(st.sampled_from([1, 1, 2, 3, 4, 6, 8])), draw(st.sampled_from([0, 2, 3, 4, 6]))
    found = one if div == 1 else f"{one} // {div}"
    return f"{found} % {mod}" if mod else found


@st.composite
def sums(draw: st.DrawFn) -> str:
    parts = draw(st.lists(digits(), min_size=1, max_size=3))
    factors = draw(st.lists(st.integers(-8, 8), min_size=len(parts), max_size=len(parts)))
    return " + ".join(f"({p}) * {f}" for p, f in zip(parts, factors, strict=True))


@settings(max_examples=few_or_all(48, 120), deadline=None, derandomize=True)
@given(
    texts=st.lists(st.one_of(terms(), digits(), sums()), min_size=1, max_size=4),
    sizes=st.tuples(*[st.sampled_from([1, 2, 3, 4, 5, 6, 8, 9])] * 3).map(list),
)
def test_variables_that_are_determined_are(texts: list[str], sizes: list[int]) -> None:
    image, known = image_of(texts, list(sizes))
    found = {var.name for var in determined(image, known)}
    assert are_determined(found, texts, sizes), (found, texts, sizes)


@settings(max_examples=few_or_all(12, 30), deadline=None, derandomize=True)
@given(
    texts=st.lists(st.one_of(digits(), sums()), min_size=1, max_size=4),
    sizes=st.tuples(*[st.sampled_from([2, 3, 4, 6])] * 3).map(list),
)
def test_what_holds_for_any_size_holds_for_each(texts: list[str], sizes: list[int]) -> None:
    image, known = image_of(texts, [None, sizes[1], None])
    found = {var.name for var in determined(image, known)}
    assert are_determined(found, texts, sizes), (found, texts, sizes)


@st.composite
def relayouts(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    """Draw a chain of the usual steps: split, fuse, permute, reverse, shift, skew."""
    sizes = draw(st.lists(st.integers(2, 7), min_size=1, max_size=3))
    dims = list(zip(NAMES, sizes, strict=False))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(dims) - 1))
        text, size = dims[at]
        kind = draw(st.sampled_from(["split", "fuse", "permute", "reverse", "shift", "skew"]))
        if kind == "split":
            by = draw(st.integers(2, 5))
            dims[at : at + 1] = [(f"({text}) // {by}", -(-size // by)), (f"({text}) % {by}", by)]
        elif kind == "fuse" and at:
            before, outer = dims[at - 1]
            dims[at - 1 : at + 1] = [(f"({before}) * {size} + ({text})", outer * size)]
        elif kind == "permute":
            dims = draw(st.permutations(dims))
        elif kind == "reverse":
            dims[at] = (f"{size - 1} - ({text})", size)
        elif kind == "shift":
            dims[at] = (f"({text}) + 3", size + 3)
        elif kind == "skew" and at:
            before, outer = dims[at - 1]
            dims[at] = (f"({text}) + ({before}) * 2", size + 2 * outer)
    return [text for text, _ in dims], sizes


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(given_=relayouts())
def test_chains_of_usual_steps_are_shown_by_algebra(given_: tuple[list[str], list[int]]) -> None:
    texts, sizes = given_
    assert are_determined(set(NAMES[: len(sizes)]), texts, sizes)
    image, known = image_of(texts, list(sizes))
    assert determined(image, known) == set(known), (texts, sizes)
