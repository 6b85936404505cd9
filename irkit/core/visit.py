"""Visit a tree from the outside in, knowing what holds around each part, without recursion.

``rewrite`` goes children first and knows no surroundings. What needs them writes its visit as a
generator: ``new = yield part`` visits what is below, and ``return`` gives the result. Nests of any
depth are fine, for the generators lie on a list and not on Python's stack.
"""

from collections.abc import Callable, Generator
from typing import TypeVar, cast

from irkit.core.node import Node
from irkit.core.recorder import current_recorder

_T = TypeVar("_T")
_R = TypeVar("_R")
_N = TypeVar("_N", bound=Node)
Visit = Generator[_T, _R, _R]


def visit(root: _T, visit: Callable[[_T], Visit[_T, _R]]) -> _R:
    """Run ``visit`` on ``root``; whatever it yields is visited too, and the result sent back."""
    running = [visit(root)]
    answer: _R | None = None
    while True:
        try:
            # The first send to a generator must be None, and any later one is an answer.
            below = running[-1].send(cast(_R, answer))
        except StopIteration as done:
            running.pop()
            answer = cast(_R, done.value)
            if not running:
                return answer
        else:
            running.append(visit(below))
            answer = None


def with_span_of(new: _N, old: Node) -> _N:
    """Give the span of ``old`` to ``new`` if it has none."""
    span = getattr(old, "span", None)
    return new if span is None or getattr(new, "span", span) is not None else new.replace(span=span)


def allowed(rule: str, before: Node, after: Node) -> bool:
    """Report one application of a rule to the recorder; False where it is switched off."""
    recorder = current_recorder()
    return after is not before and (recorder is None or recorder.allows(rule, before, after))
