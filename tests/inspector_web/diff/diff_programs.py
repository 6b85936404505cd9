"""Texts to compare: random ones, edited copies, and a loop."""

from hypothesis import strategies as st

from irkit.inspector_web import Ids, LineTable


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two texts: unrelated, or one an edited copy of the other; few kinds of lines repeat much."""
    kinds = st.integers(0, draw(st.sampled_from([1, 3, 40])))
    before = draw(st.lists(kinds, max_size=40))
    if draw(st.booleans()):
        return before, draw(st.lists(kinds, max_size=40))
    after = list(before)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(after)))
        after[at : at + draw(st.integers(0, 3))] = draw(st.lists(kinds, max_size=3))
    return before, after


def both(before: str, after: str) -> tuple[Ids, Ids, LineTable]:
    table = LineTable()
    return table.number(before.splitlines()), table.number(after.splitlines()), table


LOOP = """def f(A: f32[8], B: f32[8]):
    for i in serial(0, 8):
        B[i] = A[i] + f32(1.0)
    for j in serial(0, 8):
        A[j] = B[j]
"""
