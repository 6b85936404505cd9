"""Programs and a wrong pass for tests of verdicts."""

from irkit.core import Node, rewrite
from irkit.ir import F32, LOOP_LEVEL, Add, Const, PrimFunc, Store, parse
from irkit.phases import DEFAULT, trace
from irkit.transform import Step, Trace, define_pass

COPY = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i]
    for j in serial(0, 4):
        C[j] = A[j] + f32(1.0)
"""


@define_pass
def spoil(func: PrimFunc) -> PrimFunc:
    """Store another number wherever one is added."""

    def spoiled(node: Node) -> Node | None:
        if isinstance(node, Store) and isinstance(node.value, Add):
            return node.replace(value=Const(99.5, F32))
        return None

    return rewrite(func, spoiled, on=Store)


def wrong_trace() -> Trace:
    return trace(parse(COPY), pipeline=DEFAULT.insert(spoil, phase=2))


def step(before: str, after: str, index: int = 0) -> Step:
    first, second = parse(before), parse(after)
    return Step(index, LOOP_LEVEL, 1, "flat", "p", "p", {}, "f", first, second, 0.001)
