"""What a pass over a module must keep: each function that can be called from outside, and calls."""

from collections.abc import Iterator

from irkit.core import Function, IRModule, Node, equal
from irkit.debug.check.kept_attributes import broken_attribute, calls_of
from irkit.graph import GraphFunc
from irkit.ir import PrimFunc


def broken_promise(before: IRModule, after: IRModule) -> str:
    """Return how a step breaks its module, or an empty string.

    A function that no other one calls can be called from outside, so it keeps its name, parameters
    and type of result, and the attributes that mean something. Each call names a function that is
    there.
    """
    inside = {name for _, name in _calls(before)}
    for name, func in before.functions.items():
        other = after.functions.get(name)
        if other is func or (other is None and name in inside):
            continue
        if other is None:
            new = ", ".join(repr(each) for each in after if each not in before.functions)
            return f"function {name!r} is gone" + (f"; new are {new}" if new else "")
        if name not in inside and not _callers_see_the_same(func, other):
            return f"function {name!r} has another signature"
        wrong = broken_attribute(func, other, in_module=True, inside=name in inside)
        if wrong:
            return f"{name!r}: {wrong}"
    for caller, name in _calls(after):
        if name not in after.functions:
            return f"{caller!r} calls {name!r}, which is not in the module"
    return ""


def only_adds(before: IRModule, after: IRModule) -> bool:
    """Return True if every function of a module is in the other one, unchanged."""
    return all(after.functions.get(name) is func for name, func in before.functions.items())


def _calls(module: IRModule) -> Iterator[tuple[str, str]]:
    for name, func in module.functions.items():
        if isinstance(func, GraphFunc):
            yield from ((name, each) for each in sorted(calls_of(func)))


def _callers_see_the_same(func: Function, other: Function) -> bool:
    match func, other:
        case PrimFunc(), PrimFunc():
            return _agree(func.params, other.params)
        case GraphFunc(), GraphFunc():
            types = [param.type for param in func.params], [param.type for param in other.params]
            mine, theirs = (*types[0], func.body.result.type), (*types[1], other.body.result.type)
            return _agree(mine, theirs)
        case _:
            return False


def _agree(ones: tuple[Node, ...], others: tuple[Node, ...]) -> bool:
    if len(ones) != len(others):
        return False
    return all(a is b or equal(a, b) for a, b in zip(ones, others, strict=True))
