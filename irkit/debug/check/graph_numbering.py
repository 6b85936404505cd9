"""Value numbering of graphs: what two graphs compute in the same way has the same number.

Calls of lambdas and of graph functions are opened, nested bodies too, so grouping, renaming and
dead code make no difference. Numbers rise from operands to results.
"""

from collections.abc import Hashable, Iterable, Sequence

import msgspec

from irkit.core import IRKitError, IRModule, deep_recursion, walk
from irkit.graph import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphFunc,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Type,
    Value,
    tensors_in,
)
from irkit.ir import PrimFunc, Var
from irkit.transform import IR

MAX_OPENED = 100_000
"""Bindings numbered in a graph: calls that are opened can double its size at each level."""
Scope = dict[Value, int]


class NumberedStep(msgspec.Struct, frozen=True, eq=False):
    """One way to compute a value: a step whose operands are the values of numbers ``args``.

    ``step`` is None for a parameter. ``kernel`` is the loop function that a call runs, if it is
    known, ``loop`` the binding of a loop with the module of its function; ``scope`` has what a
    lambda refers to. ``sizes`` are the prefixes that bind dimensions of the type.
    """

    name: str
    type: Type
    step: GraphStep | None
    args: tuple[int, ...] = ()
    kernel: PrimFunc | None = None
    scope: Scope = {}
    loop: tuple[IRModule, Bind] | None = None
    sizes: tuple[int, ...] = ()


class CutPoint(msgspec.Struct, frozen=True):
    """A value that was bound in the outermost body, and its number."""

    value: Value
    number: int


class GraphNumbering:
    """Numbers of the values of several graphs; ``nodes`` says how each is computed."""

    def __init__(self) -> None:
        self.nodes: list[NumberedStep] = []
        self.constants = set[int]()
        """Numbers of what is computed from constants alone."""
        self.prefixes: dict[Var, int] = {}
        """The numbers of the prefixes that bind dimensions."""
        self._numbers: dict[Hashable, int] = {}
        self._left = MAX_OPENED
        self._module: IRModule | None = None

    def enter(self, program: IR, func: GraphFunc) -> Scope:
        """Begin a graph, of ``program``; return its scope, with a number for each parameter.

        Parameters of several graphs at the same place have the same number.
        """
        self._left = MAX_OPENED
        self._module = program if isinstance(program, IRModule) else None
        return {
            param: self._number(("param", at), param, None) for at, param in enumerate(func.params)
        }

    @deep_recursion
    def number(self, var: Value, step: GraphStep, scope: Scope) -> int:
        """Return the number of what a step computes.

        Raises: IRKitError for a step that cannot be numbered, and for too many of them.
        """
        return self._step(var, step, scope)

    def _step(self, var: Value, step: GraphStep, scope: Scope) -> int:
        self._left -= 1
        if self._left < 0:
            raise IRKitError(f"its calls open to more than {MAX_OPENED} bindings")
        match step:
            case Constant(data):
                return self._number(("constant", data.digest), var, step)
            case Op(name, args, attrs):
                given = self._args(args, scope)
                return self._number(("op", name, attrs, given), var, step, given)
            case Tuple(items):
                given = self._args(items, scope)
                return self._number(("tuple", given), var, step, given)
            case TupleGet(value, index):
                whole = scope[value]
                made = self.nodes[whole]
                if isinstance(made.step, Tuple):
                    return made.args[index]
                return self._number(("item", whole, index), var, step, (whole,))
            case Prefix(extent, value, count):
                given = (scope[value], scope[count])
                made = self._number(("prefix", given), var, step, given)
                self.prefixes[extent] = made
                return made
            case GraphLoop(name, count, cond, state, others):
                given = self._args((count, cond, *state, *others), scope)
                return self._looped(Bind(var, step), name, given)
            case Body():
                return self._body(step, scope)
            case GraphIf(cond, then, otherwise):
                sides = self._body(then, scope), self._body(otherwise, scope)
                given = (scope[cond], *sides)
                return self._number(("if", given), var, step, given)
            case Lambda():
                self.nodes.append(NumberedStep(var.name, var.type, step, scope=dict(scope)))
                return len(self.nodes) - 1
            case Apply(callee, args):
                made = self.nodes[scope[callee]]
                if not isinstance(made.step, Lambda):
                    raise IRKitError(f"{callee.name!r} is a function that is not known here")
                inner = dict(zip(made.step.params, self._args(args, scope), strict=True))
                return self._body(made.step.body, {**made.scope, **inner})
            case Invoke(name, args):
                return self._invoked(var, step, name, self._args(args, scope))
            case _:
                raise IRKitError(f"{type(step).__name__} {var.name!r} cannot be numbered")

    def _invoked(self, var: Value, step: Invoke, name: str, given: tuple[int, ...]) -> int:
        target = None if self._module is None else self._module.functions.get(name)
        if isinstance(target, GraphFunc):
            inner = dict(zip(target.params, given, strict=True))
            return self._body(target.body, inner)
        kernel = target if isinstance(target, PrimFunc) else None
        what: Hashable = name if kernel is None else id(kernel)
        return self._number(("call", what, given), var, step, given, kernel)

    def _looped(self, bind: Bind, name: str, given: tuple[int, ...]) -> int:
        """Return the number of a loop: loops are alike if all functions that they call are."""
        if self._module is None or name not in self._module:
            raise IRKitError(f"{name!r} is looped over, and is not known here")
        key = ("loop", name, _reached(self._module, name), given)
        made = self._number(key, bind.var, bind.step, given)
        node = self.nodes[made]
        if node.loop is None:
            self.nodes[made] = msgspec.structs.replace(node, loop=(self._module, bind))
        return made

    def _body(self, body: Body, outer: Scope) -> int:
        scope = dict(outer)
        for bind in body.bindings:
            scope[bind.var] = self._step(bind.var, bind.step, scope)
        return scope[body.result]

    def _args(self, values: Iterable[Value], scope: Scope) -> tuple[int, ...]:
        return tuple(scope[value] for value in values)

    def _number(
        self,
        key: Hashable,
        var: Value,
        step: GraphStep | None,
        args: tuple[int, ...] = (),
        kernel: PrimFunc | None = None,
    ) -> int:
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self.nodes)
            sizes = self._sizes(var.type) if self.prefixes else ()
            self.nodes.append(NumberedStep(var.name, var.type, step, args, kernel, sizes=sizes))
            if step is not None and self.constants.issuperset(args):
                self.constants.add(known)
        return known

    def _sizes(self, kind: Type) -> tuple[int, ...]:
        dims = (dim for each in tensors_in(kind) for dim in each.shape)
        used = dict.fromkeys(var for dim in dims for var in walk(dim, Var))
        return tuple(self.prefixes[var] for var in used if var in self.prefixes)

    def cone(self, targets: Iterable[int], stop: Sequence[int] | frozenset[int]) -> set[int]:
        """Return the numbers that some depend on, and these themselves; not beyond ``stop``."""
        found = set[int]()
        todo = list(targets)
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                if number not in stop:
                    todo.extend((*self.nodes[number].args, *self.nodes[number].sizes))
        return found


def _reached(module: IRModule, name: str) -> frozenset[int]:
    """Return the identities of the functions that a call of one can reach."""
    found: dict[str, int] = {}
    waiting = [name]
    while waiting:
        called = waiting.pop()
        func = module.functions.get(called)
        if called not in found and func is not None:
            found[called] = id(func)
            if isinstance(func, GraphFunc):
                waiting += [step.function for step in walk(func.body, (Invoke, GraphLoop))]
    return frozenset(found.values())
