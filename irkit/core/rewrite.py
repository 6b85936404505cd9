"""Change trees: a bottom-up rewriter, substitution, and fresh copies.

All of them return the same object if nothing changed.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from irkit.core.errors import IRKitError
from irkit.core.module import Function
from irkit.core.node import (
    BINDERS,
    CHILDREN,
    HELD,
    PARTS,
    READS_NOTHING,
    USES,
    Node,
    fields,
    with_fields,
)
from irkit.core.recorder import current_recorder, report_rounds
from irkit.core.recursion import deep_recursion
from irkit.core.rules import Firing, Rule, Rules, classes_of, subject_of, written_at
from irkit.core.span import Span
from irkit.core.walk import (
    may_be_expression,
    postorder,
    statements_postorder,
    symbols_bound,
    symbols_used,
    walk,
)

_N = TypeVar("_N", bound=Node)
_S = TypeVar("_S", bound=Node)  # a symbol
_R = TypeVar("_R", bound=Node)  # what replaces it


@cache
def _fires_on(cls: type[Node], targets: tuple[type[Node], ...]) -> bool:
    return issubclass(cls, targets)


def rewrite(
    root: _N,
    rule: Callable[..., Node | None],
    *,
    on: type[Node] | tuple[type[Node], ...] | None = None,
    applied: Callable[..., object] | None = None,
) -> _N:
    """Apply ``rule``, a function or ``Rules``, to every node of class ``on``, children first.

    Without ``on``, ``Rules`` know their classes, and those of a function are read from the
    annotation of its first parameter; a function without annotation is called for every node.

    A rule returns None or the same node to leave it alone. If nothing changed, the same root is
    returned. New statements without a span get that of the node they replace. Each application is
    reported to the recorder. ``applied`` is called with the nodes before and after each application
    that takes place, so that a pass can update its tables. Where a statement that stands at several
    places becomes a binder, it gets symbols of its own from the second place on.

    Raises: IRKitError if the annotation cannot be read or is not a class of nodes.
    """
    if on is None:
        on = classes_of(rule) if isinstance(rule, (Rule, Rules)) else subject_of(rule)
    targets = on if isinstance(on, tuple) else (on,)
    if not isinstance(root, Node):  # pyright: ignore[reportUnnecessaryIsInstance] -- users err
        raise _no_node("rewrite", root)
    fires = _Dispatch(rule, targets)
    # A rule about statements changes no expression, so it visits none.
    order = postorder(root) if may_be_expression(targets) else statements_postorder(root)
    if not any(fires[cls] is not None for cls in {node.__class__ for node in order}):
        return root
    new: dict[int, Node] = {}
    statements = False
    for old in order:
        if new:
            node, is_child = _with_new_children(old, new)
            if is_child:  # The rule has been applied to it already.
                new[id(old)] = node
                continue
        else:
            node = old
        fire = fires[node.__class__]
        if fire is not None:
            result = fire(node)
            if result is not None and result is not node:
                made = fires.applied(node, result)
                if applied is not None and made is not node:
                    applied(node, made)
                node = made
                statements = statements or not made.expression
        if node is not old:
            new[id(old)] = node
    after = cast(_N, new.get(id(root), root))
    return _bound_once(order, after) if statements else after


_MOST_PLACES = 1 << 16
"""How many more statements a function may have, written out, than it has objects."""


def _bound_once(before: list[Node], after: _N) -> _N:
    """Return ``after`` with one place for each binder, if statements of ``before`` stood at several
    places; both lists of nodes are children first."""
    if not _at_several_places(before):
        return after
    several = {id(node) for node in _at_several_places(postorder(after)) if symbols_bound(node)}
    if not several:
        return after
    with deep_recursion:
        return cast(_N, _OnePlaceEach(after, several).visit(after))


def _at_several_places(order: list[Node]) -> list[Node]:
    """List the statements that stand at several places; none if there are too many places."""
    seen: set[int] = set()
    shared: dict[int, Node] = {}
    sizes: dict[int, int] = {}
    for node in order:
        if node.expression:
            continue
        size = 1
        for child in CHILDREN[node.__class__](node):
            if not child.expression:
                size += sizes[id(child)]
                if id(child) in seen:
                    shared[id(child)] = child
                seen.add(id(child))
        sizes[id(node)] = size
        if size > len(order) + _MOST_PLACES:
            return []
    return list(shared.values())


class _OnePlaceEach:
    """A visitor that copies some statements, with new symbols, from their second place on."""

    def __init__(self, root: Node, several: set[int]) -> None:
        self.several = several
        self.placed: set[int] = set()
        self.holding: set[int] = set()
        for node in postorder(root):
            below = CHILDREN[node.__class__](node)
            if id(node) in several or any(id(child) in self.holding for child in below):
                self.holding.add(id(node))

    def visit(self, node: Node) -> Node:
        """Return a statement for one more place."""
        if id(node) not in self.holding:
            return node
        changes: dict[str, Any] = {}
        for field in fields(node.__class__):
            if field.kind != "child":
                continue
            held = getattr(node, field.name)
            if field.many:
                made = [self.visit(child) for child in held]
                if any(a is not b for a, b in zip(made, held, strict=True)):
                    changes[field.name] = tuple(made)
            elif held is not None:
                changes[field.name] = self.visit(held)
        result = node.replace(**changes)
        if id(node) in self.placed:
            return fresh(result)
        if id(node) in self.several:
            self.placed.add(id(node))
        return result


class _Dispatch(dict[type[Node], Callable[[Any], Any] | None]):
    """Table of the function to call for each node class, and of how to apply its result."""

    def __init__(self, rule: Callable[..., Any], targets: tuple[type[Node], ...]) -> None:
        super().__init__()
        self.rule = rule
        self.targets = targets
        if not callable(rule):
            raise IRKitError(f"a rule is a function of a node, found {rule!r}")
        if isinstance(rule, Rule):
            self.rule = Rules(rule.name, rule)
        self.name: str = getattr(rule, "__qualname__", type(rule).__name__)
        self.recorder = current_recorder()
        self.span = None if self.recorder is None else written_at(rule, self.name)

    def __missing__(self, cls: type[Node]) -> Callable[[Any], Any] | None:
        try:
            about = _fires_on(cls, self.targets)
        except TypeError:
            raise IRKitError(
                f"on must be a class of nodes, or a tuple of such; found {self.targets[0]!r}"
            ) from None
        made = self[cls] = self._fire(cls) if about else None
        return made

    def _fire(self, cls: type[Node]) -> Callable[[Any], Any] | None:
        timer = self.recorder if self.recorder is not None and self.recorder.timed else None
        if isinstance(self.rule, Rules):
            return self.rule.table[cls] if timer is None else self.rule.table.timed(cls, timer)
        return self.rule if timer is None else timer.clocked(self.name, self.span, self.rule)

    def applied(self, node: Node, result: Any) -> Node:
        """Report an application to the recorder, and return the new node if it may take place."""
        rule = self.rule
        if not isinstance(rule, Rules):
            return _applied(self.name, self.span, node, result)
        found: Firing | None = result
        rounds = 0
        while found is not None:
            fired, after = found
            if rounds and rounds == rule.bound:
                raise rule.no_fixpoint(fired, node)
            made = _applied(fired.name, fired.span, node, after)
            if made is node:
                break
            rounds += 1
            node = made
            if not rule.bound:
                break
            fire = self[node.__class__]
            found = None if fire is None else fire(node)
        if rule.bound:
            report_rounds(rule.name, rounds)
        return node


def _no_node(what: str, found: object) -> IRKitError:
    return IRKitError(
        f"{what} takes nodes of IR, found {type(found).__name__}",
        hint="Make a node of a number by const or as_expr; of a module, take its functions.",
    )


def _with_new_children(old: Node, new: dict[int, Node]) -> tuple[Node, bool]:
    """Replace the children of a node; also return True if the node collapsed into one of them, as a
    sequence of one statement does."""
    below = CHILDREN[old.__class__](old)
    for child in below:
        if id(child) in new:
            node = with_fields(old, new)
            return node, any(new.get(id(child), child) is node for child in below)
    return old, False


def _applied(rule: str, span: Span | None, node: Node, result: object) -> Node:
    if not isinstance(result, Node):
        raise IRKitError(
            f"rule {rule!r} returned {type(result).__name__} for {type(node).__name__}; "
            "expected a node, or None to leave it alone"
        )
    recorder = current_recorder()
    if recorder is not None and not recorder.allows(rule, node, result, span):
        return node
    return _carry_span(node, result)


def _carry_span(old: Node, result: Node) -> Node:
    """Set the span of ``old`` on the statements of ``result`` that have none; whatever has a span
    keeps it, with everything below."""
    span = getattr(old, "span", None)
    if span is None or not hasattr(result, "span"):
        return result
    new: dict[int, Node] = {}
    done: set[int] = {id(old)}
    stack: list[tuple[Node, bool]] = [(result, False)]
    while stack:  # Only nodes with a span field are entered, so expressions cost nothing.
        node, below_done = stack.pop()
        if below_done:
            changed = with_fields(node, new)
            if getattr(changed, "span", span) is None:
                changed = changed.replace(span=span)
            if changed is not node:
                new[id(node)] = changed
        elif id(node) not in done and (node is result or getattr(node, "span", span) is None):
            done.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in CHILDREN[node.__class__](node))
    return new.get(id(result), result)


def with_span_of(new: _N, old: Node) -> _N:
    """Return ``new`` with the span of ``old`` if it has none of its own."""
    span = getattr(old, "span", None)
    return new if span is None or getattr(new, "span", span) is not None else new.replace(span=span)


def substitute(root: _N, mapping: Mapping[_S, _R]) -> _N:
    """Replace symbols (variables by expressions, buffers by buffers) wherever they are used.

    A buffer introduced inside ``root`` whose shape mentions a replaced variable is replaced by a
    new buffer. A buffer bound outside keeps its identity, because its shape is decided where it is
    introduced. Where ``root`` itself introduces a replaced symbol, the replacement is introduced
    instead if it is a symbol too.
    """
    given: dict[int, Node] = {id(old): new for old, new in mapping.items() if old is not new}
    for new in given.values():
        if not isinstance(new, Node):  # pyright: ignore[reportUnnecessaryIsInstance] -- users err
            raise _no_node("substitute", new)
    if not given:
        return root
    order = postorder(root)
    if any(BINDERS[cls] is not READS_NOTHING for cls in {node.__class__ for node in order}):
        _replace_in_parts(symbols_bound(root), given)
    return cast(_N, _replace_symbols(root, given, order))


def substitute_each(root: _N, symbol: Node, values: Iterable[Node]) -> list[_N]:
    """Replace a symbol by each of some values, as :func:`substitute` does, but look for its uses
    once."""
    order = postorder(root)
    if any(BINDERS[cls] is not READS_NOTHING for cls in {node.__class__ for node in order}):
        return [substitute(root, {symbol: value}) for value in values]
    holding, found = {id(symbol)}, list[Node]()
    for node in order:
        if not holding.isdisjoint(map(id, HELD[node.__class__](node))):
            holding.add(id(node))
            found.append(node)
    return [cast(_N, _replace_symbols(root, {id(symbol): value}, found)) for value in values]


def _replace_in_parts(symbols: list[Node], given: dict[int, Node]) -> None:
    """Add to ``given`` a new symbol for each symbol whose parts mention a replaced one."""
    for symbol in symbols:
        if id(symbol) not in given:
            changed = _with_new_parts(symbol, given)
            if changed is not symbol:
                given[id(symbol)] = changed


def _with_new_parts(symbol: Node, given: dict[int, Node]) -> Node:
    new: dict[int, Node] = {}
    for part in PARTS[symbol.__class__](symbol):
        mentioned = {id(used): given[id(used)] for used in symbols_used(part) if id(used) in given}
        if mentioned:
            new[id(part)] = _replace_symbols(part, mentioned, postorder(part))
    return with_fields(symbol, new)


def fresh(root: _N) -> _N:
    """Return a copy with new variables and buffers, so both copies can stand in one function."""
    return copy_with(root, {})[0]


def copy_with(root: _N, mapping: Mapping[Node, Node]) -> tuple[_N, dict[Node, Node]]:
    """Return a copy with the given symbols in place of some, and new ones in place of all others
    that are introduced inside; and what stands for each symbol."""
    given: dict[int, Node] = {id(old): new for old, new in mapping.items()}
    every = dict(mapping)
    for symbol in symbols_bound(root):
        if id(symbol) not in given:
            changed = _with_new_parts(symbol, given)
            made = changed.copied() if changed is symbol else changed
            given[id(symbol)] = every[symbol] = made
    return cast(_N, _replace_symbols(root, given, postorder(root))) if given else root, every


def _replace_symbols(root: Node, given: dict[int, Node], order: list[Node]) -> Node:
    """Replace symbols in a tree; ``order`` has its nodes, children first."""
    new = dict(given)
    symbols = {key: node for key, node in given.items() if node.symbol}
    replaced = new.keys()
    for old in order:
        cls = old.__class__
        held = HELD[cls](old)
        if not held or id(old) in given or replaced.isdisjoint(map(id, held)):
            continue
        node = with_fields(old, new, ("child", "use"))
        if symbols and BINDERS[cls] is not READS_NOTHING:
            node = with_fields(node, symbols, ("binder",))
        if node is not old:
            new[id(old)] = node
    return new.get(id(root), root)


def free_symbols(root: Node) -> set[Node]:
    """Return the variables and buffers used but not introduced below ``root``.

    The shapes of a function's parameters introduce the variables they mention.
    """
    bound: set[Node] = set()
    used: set[Node] = set()
    for node in walk(root):
        if node.symbol:
            used.add(node)
        used.update(USES[node.__class__](node))
        for symbol in BINDERS[node.__class__](node):
            bound.add(symbol)
            inside = bound if isinstance(node, Function) else used
            for part in PARTS[symbol.__class__](symbol):
                inside.update(symbols_used(part))
    return used - bound


def any_node(
    root: Node, on: type[Node] | tuple[type[Node], ...], claim: Callable[..., bool] | None = None
) -> bool:
    """Return True if some node of class ``on`` below ``root`` satisfies ``claim``."""
    return any(claim is None or claim(node) for node in walk(root, on))
