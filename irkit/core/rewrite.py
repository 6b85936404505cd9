"""Change trees: one bottom-up rewriter, substitution, and fresh copies. Nothing changed means the
same object back."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar, cast

from irkit.core.node import BINDERS, CHILDREN, USES, Node, with_fields
from irkit.core.recorder import current_recorder
from irkit.core.walk import postorder, symbols_bound, walk

_N = TypeVar("_N", bound=Node)
Rule = Callable[[Node], Node | None]


@cache
def _fires_on(cls: type[Node], targets: tuple[type[Node], ...]) -> bool:
    return issubclass(cls, targets)


def rewrite(
    root: _N, rule: Callable[..., Node | None], *, on: type[Node] | tuple[type[Node], ...] = Node
) -> _N:
    """Apply ``rule`` to every node of class ``on``, children first.

    ``None`` or the same object means "leave alone". If nothing changed the very same root comes
    back. New statements that have
    no span get the one of the node they replace. Each application is reported to the recorder.
    """
    targets = on if isinstance(on, tuple) else (on,)
    order = postorder(root)
    fires = {cls: _fires_on(cls, targets) for cls in {node.__class__ for node in order}}
    if not any(fires.values()):
        return root
    recorder = current_recorder()
    name = getattr(rule, "__qualname__", type(rule).__name__)
    new: dict[int, Node] = {}
    for old in order:
        node = with_fields(old, new) if new else old
        if fires.get(node.__class__, False) if node is old else _fires_on(node.__class__, targets):
            result = rule(node)
            if (
                result is not None
                and result is not node
                and (recorder is None or recorder.allows(name, node, result))
            ):
                node = _carry_span(node, result)
        if node is not old:
            new[id(old)] = node
    return cast(_N, new.get(id(root), root))


def _carry_span(old: Node, result: Node) -> Node:
    """Give the span of ``old`` to the new statements of ``result``; what has a span, and all below
    it, stays as it is."""
    span = getattr(old, "span", None)
    if span is None:
        return result
    order: list[Node] = []
    stack = [result]
    while stack:  # Only nodes with a place for a span are entered, so expressions cost nothing.
        node = stack.pop()
        if (
            node is not old
            and hasattr(node, "span")
            and (node is result or getattr(node, "span") is None)
        ):
            order.append(node)
            stack.extend(CHILDREN[node.__class__](node))
    new: dict[int, Node] = {}
    for node in reversed(order):
        changed = with_fields(node, new)
        if getattr(changed, "span") is None:
            changed = changed.replace(span=span)
        if changed is not node:
            new[id(node)] = changed
    return new.get(id(result), result)


def substitute(root: _N, mapping: Mapping[Node, Node] | Mapping[_N, Node]) -> _N:
    """Replace symbols (variables by expressions, buffers by buffers) wherever they are used.

    Buffers introduced inside ``root`` whose shape mentions a replaced variable are replaced by new
    buffers too. A buffer that is
    bound outside keeps its identity: what it looks like is decided where it is introduced.
    """
    given = {id(old): new for old, new in cast(Mapping[Node, Node], mapping).items()}
    if not given:
        return root
    for symbol in symbols_bound(root):
        if id(symbol) not in given and CHILDREN[symbol.__class__](symbol):
            copied = _replace_symbols(symbol, given)
            if copied is not symbol:
                given[id(symbol)] = copied
    return cast(_N, _replace_symbols(root, given))


def fresh(root: _N) -> _N:
    """Copy with new variables and buffers in place of those introduced inside, so that two copies
    can stand in one function."""
    given: dict[int, Node] = {}
    for symbol in symbols_bound(root):
        copied = _replace_symbols(symbol, given)
        given[id(symbol)] = copied.copied() if copied is symbol else copied
    return cast(_N, _replace_symbols(root, given)) if given else root


def _replace_symbols(root: Node, given: dict[int, Node]) -> Node:
    if root.symbol and id(root) in given:
        return given[id(root)]
    new = dict(given)
    for old in postorder(root):
        if id(old) in new:
            continue
        node = with_fields(old, new, ("child", "use", "binder"))
        if node is not old:
            new[id(old)] = node
    return new.get(id(root), root)


def free_symbols(root: Node) -> set[Node]:
    """Collect the variables and buffers used but not introduced below ``root``."""
    bound = set(symbols_bound(root))
    used: set[Node] = set()
    for node in walk(root):
        if node.symbol:
            used.add(node)
        used.update(USES[node.__class__](node))
        for symbol in BINDERS[node.__class__](node):
            used.update(inner for inner in walk(symbol) if inner.symbol and inner is not symbol)
    return used - bound


def any_node(
    root: Node, on: type[Node] | tuple[type[Node], ...], claim: Callable[..., bool] | None = None
) -> bool:
    """Say whether some node of class ``on`` below ``root`` fulfils ``claim``."""
    return any(claim is None or claim(node) for node in walk(root) if isinstance(node, on))


def first(*rules: Callable[..., Node | None]) -> Rule:
    """Combine rules: the first that does not leave the node alone wins."""

    def combined(node: Node) -> Node | None:
        for rule in rules:
            result = rule(node)
            if result is not None and result is not node:
                return result
        return None

    combined.__qualname__ = (
        "first(" + ", ".join(getattr(rule, "__qualname__", repr(rule)) for rule in rules) + ")"
    )
    return combined
