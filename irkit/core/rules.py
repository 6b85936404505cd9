"""Rules as data: each has a name, the classes it fires on, and the line where it is defined.

A set of rules is compiled once into a table by class, so a node without rules costs one lookup.
``rewrite`` reports the name of the rule that fired to the recorder, not the name of the set.
"""

import inspect
import types
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints, overload

import msgspec
from msgspec.structs import replace

from irkit.core.errors import IRKitError
from irkit.core.node import Node
from irkit.core.recorder import Recorder, report_rounds
from irkit.core.span import Span

_T = TypeVar("_T")
Apply = Callable[..., Node | None]
Classes = type[Node] | tuple[type[Node], ...]


class Rule(msgspec.Struct, frozen=True):
    """A function from a node of certain classes to its replacement or None; ``span`` is where it is
    defined, and ``pattern`` what it matches, if that is data."""

    name: str
    on: tuple[type[Node], ...]
    apply: Apply
    span: Span | None = None
    pattern: Node | None = None

    @classmethod
    def of(cls, function: Apply, *, on: Classes | None = None, name: str = "") -> "Rule":
        """Make a rule from a function, by default with its name and the classes of its first
        parameter.

        Raises: IRKitError if the annotation cannot be read or is not a node class.
        """
        known = name or getattr(function, "__name__", type(function).__name__)
        known = known if name else known.strip("_").replace("_", "-")
        classes = _subject(function, known) if on is None else on
        targets = classes if isinstance(classes, tuple) else (classes,)
        return cls(known, targets, function, written_at(function, known))

    def __call__(self, node: Node) -> Node | None:
        return self.apply(node) if isinstance(node, self.on) else None


Firing = tuple[Rule, Node]
Fire = Callable[[Any], Firing | None]


class Rules:
    """A set of rules; the first one that changes a node wins.

    Call it like a rule, or pass it to ``rewrite``. ``bound`` is how many times rules can fire in
    succession at one node: once, unless ``fixpoint`` made the set.
    """

    def __init__(self, name: str, *rules: "Rule | Rules | Apply", bound: int = 0) -> None:
        self.name = name
        self.rules = tuple(_flattened(rules))
        self.bound = bound
        self.table = _RuleTable(self.rules)
        self.__qualname__ = name
        seen: dict[str, Rule] = {}
        for rule in self.rules:
            if seen.setdefault(rule.name, rule) is not rule and rule.name != "<lambda>":
                raise IRKitError(f"rules {name!r} has two rules {rule.name!r}", span=rule.span)

    def __call__(self, node: Node) -> Node | None:
        """Apply the first rule that changes a node, repeatedly if the set has a bound."""
        fire = self.table[node.__class__]
        found = None if fire is None else fire(node)
        if found is None:
            return None
        rounds = 0
        while found is not None:
            node = found[1]
            if not self.bound:
                return node
            if rounds == self.bound:
                raise self.no_fixpoint(found[0], node)
            rounds += 1
            fire = self.table[node.__class__]
            found = None if fire is None else fire(node)
        report_rounds(self.name, rounds)
        return node

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, name: str) -> Rule:
        for rule in self.rules:
            if rule.name == name:
                return rule
        known = ", ".join(rule.name for rule in self.rules) or "none"
        raise IRKitError(f"rules {self.name!r} has no rule {name!r}; it has: {known}")

    def __repr__(self) -> str:
        return f"<rules {self.name!r}: {', '.join(rule.name for rule in self.rules)}>"

    def without(self, *names: str) -> "Rules":
        """Return the set without some rules.

        Raises: IRKitError if there is no rule of that name.
        """
        gone = [self[name] for name in names]
        kept = (rule for rule in self.rules if rule not in gone)
        return Rules(self.name, *kept, bound=self.bound)

    def no_fixpoint(self, rule: Rule, node: Node) -> IRKitError:
        """Return the error for a rule that still fires when the bound is reached."""
        return no_fixpoint(f"{rule.name}' of '{self.name}", self.bound, node)


def no_fixpoint(name: str, bound: int, node: object) -> IRKitError:
    """Return the error for a change that still has an effect after ``bound`` rounds."""
    where = f" at {type(node).__name__}" if isinstance(node, Node) else ""
    return IRKitError(
        f"'{name}' reached no fixpoint in {bound} rounds{where}",
        hint="Two rewrites may undo each other; look at the applications of one more round.",
        span=cast(Span | None, getattr(node, "span", None)),
    )


class _RuleTable(dict[type[Node], Fire | None]):
    """A function over the applicable rules for each node class, or None if there are none."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, cls: type[Node]) -> Fire | None:
        about = self._about(cls)
        made = self[cls] = _fire(about) if about else None
        return made

    def timed(self, cls: type[Node], recorder: Recorder) -> Fire | None:
        """Return the function for a class whose rules are measured for a recorder."""
        about = tuple(
            replace(rule, apply=recorder.clocked(rule.name, rule.span, rule.apply))
            for rule in self._about(cls)
        )
        return _fire(about) if about else None

    def _about(self, cls: type[Node]) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if issubclass(cls, rule.on))


def _fire(rules: tuple[Rule, ...]) -> Fire:
    if len(rules) == 1:
        only, apply = rules[0], rules[0].apply

        def fire_only(node: Node) -> Firing | None:
            result = apply(node)
            return None if result is None or result is node else (only, result)

        return fire_only
    pairs = tuple((rule, rule.apply) for rule in rules)

    def fire(node: Node) -> Firing | None:
        for rule, apply in pairs:
            result = apply(node)
            if result is not None and result is not node:
                return rule, result
        return None

    return fire


def _flattened(rules: tuple[Rule | Rules | Apply, ...]) -> Iterator[Rule]:
    for rule in rules:
        if isinstance(rule, Rules) and rule.bound:
            # A row of the table cannot express repetition, so the whole set becomes one rule.
            yield Rule(rule.name, classes_of(rule), rule, None)
        elif isinstance(rule, Rules):
            yield from rule.rules
        elif isinstance(rule, Rule):
            yield rule
        else:
            yield Rule.of(rule)


def classes_of(rules: Rule | Rules) -> tuple[type[Node], ...]:
    """Return the classes of nodes that rules are about."""
    if isinstance(rules, Rule):
        return rules.on
    return tuple(dict.fromkeys(cls for rule in rules for cls in rule.on))


def _subject(function: Apply, name: str) -> Classes:
    """Return the classes that annotate the first parameter of a rule, or ``Node`` without
    annotation."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise _unreadable(name, error) from error
    for first in parameters:
        bare = first.annotation is inspect.Parameter.empty
        hint = Node if bare else first.annotation
        return _annotated(function, first.name, cast(object, hint), name)
    raise IRKitError(f"rule {name!r} must take a node as its first parameter")


def subject_of(function: Apply) -> tuple[type[Node], ...]:
    """Read the classes that ``rewrite`` applies a bare function to, as ``Rule.of`` reads them.

    What has no annotation, or is callable and no function of Python, is applied to any node.
    """
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    place = 0 if plain is function else 1  # The first parameter of a method is its object.
    if code is None or code.co_argcount <= place:
        return (Node,)
    first = code.co_varnames[place]
    hint = plain.__annotations__.get(first, Node)
    if isinstance(hint, type) and issubclass(hint, Node):  # As nearly always, and cheap.
        return (hint,)
    return _annotated(plain, first, cast(object, hint), plain.__name__)


def _annotated(function: Apply, first: str, hint: object, name: str) -> tuple[type[Node], ...]:
    """Turn the annotation of the first parameter into classes."""
    if isinstance(hint, str):
        try:
            hint = get_type_hints(function)[first]
        except (NameError, TypeError, ValueError, SyntaxError) as error:
            raise _unreadable(name, error) from error
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if not all(isinstance(option, type) and issubclass(option, Node) for option in options):
        raise IRKitError(
            f"rule {name!r}: its first parameter must be annotated with a class of nodes",
            hint="Or name the classes, as in on=For.",
        )
    return cast(tuple[type[Node], ...], tuple(options))


def _unreadable(name: str, error: Exception) -> IRKitError:
    return IRKitError(
        f"rule {name!r}: its annotations cannot be read: {error}",
        hint="Name the classes instead, as in on=For.",
    )


def written_at(function: Apply, name: str) -> Span | None:
    """Return where a function is defined, or None if it is not written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    return Span("python", name, code.co_filename, code.co_firstlineno)


def first(*rules: Rule | Rules | Apply) -> Rules:
    """Combine rules into a set in which the first one that changes the node wins."""
    names = (
        rule.name
        if isinstance(rule, (Rule, Rules))
        else getattr(rule, "__qualname__", type(rule).__name__)
        for rule in rules
    )
    return Rules(f"first({', '.join(names)})", *rules)


@overload
def fixpoint(change: Rules | Rule, bound: int) -> Rules: ...
@overload
def fixpoint(change: Callable[[_T], _T | None], bound: int) -> Callable[[_T], _T]: ...
def fixpoint(change: Any, bound: int) -> Any:
    """Repeat a pass on a function, or a rule at a node, until it changes nothing.

    In ``rewrite`` each firing of a rule counts as an application under the name of the rule. The
    recorder's report on ``fixpoint(NAME)`` has the number of rounds.

    Raises: IRKitError, on application, if there are still changes after ``bound`` rounds.
    """
    if isinstance(change, (Rule, Rules)):
        return Rules(f"fixpoint({change.name})", change, bound=bound)
    name = getattr(change, "name", getattr(change, "__qualname__", repr(change)))

    known = f"fixpoint({name})"

    def repeated(ir: _T) -> _T:
        started = perf_counter()
        for rounds in range(bound + 1):
            result = change(ir)
            if result is None or result is ir:
                report_rounds(known, rounds, perf_counter() - started)
                return ir
            if rounds < bound:
                ir = result
        raise no_fixpoint(name, bound, ir)

    repeated.__qualname__ = known
    return repeated
