"""Visit a tree from the outside in, with the context of each part, without recursion.

``rewrite`` goes children first and knows no context. A visitor that needs it is a generator: ``new
= yield part`` visits a part and gets its result, ``return`` gives its own. The generators lie on a
list and not on Python's stack, so nests of any depth are fine.
"""

from collections.abc import Callable, Generator
from typing import TypeVar, cast

from irkit.core.node import Node
from irkit.core.recorder import current_recorder

_T = TypeVar("_T")
_R = TypeVar("_R")
_N = TypeVar("_N", bound=Node)
Visit = Generator[_T, _R, _R]


def visit(root: _T, enter: Callable[[_T], Visit[_T, _R]]) -> _R:
    """Run ``enter`` on ``root`` and on everything it yields, sending the results back."""
    running = [enter(root)]
    answer: _R | None = None
    while True:
        try:
            # The first send to a generator must be None, every later one a result.
            below = running[-1].send(cast(_R, answer))
        except StopIteration as done:
            running.pop()
            answer = cast(_R, done.value)
            if not running:
                return answer
        else:
            running.append(enter(below))
            answer = None


def with_span_of(new: _N, old: Node) -> _N:
    """Return ``new`` with the span of ``old`` if it has none of its own."""
    span = getattr(old, "span", None)
    return new if span is None or getattr(new, "span", span) is not None else new.replace(span=span)


def allowed(rule: str, before: Node, after: Node) -> bool:
    """Report one application of a rule to the recorder; return False if it is disabled."""
    recorder = current_recorder()
    return after is not before and (recorder is None or recorder.allows(rule, before, after))
