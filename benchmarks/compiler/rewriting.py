"""Rewriting, verifying, reading and printing a module of 10,000 operations, against xDSL 0.74.

Both sides have the same functions with the same loops and arithmetic. An operation is a loop, an
access, a sum or product, or a constant; operations that only one side has (the end of a body, the
step of a loop) count for that side. Rates are operations a second; xDSL rewrites in place, so its
module is copied outside the measurement.
"""

import statistics
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.timing import once
from irkit.core import Function, IRKitError, IRModule, Node, Rules, children, fixpoint, rewrite
from irkit.ir import (
    ANY_INTEGER,
    Add,
    Binary,
    Const,
    For,
    Load,
    Mul,
    PrimFunc,
    Store,
    Sub,
    hole,
    parse_module,
    peephole,
    verify,
)

FUNCTIONS, NESTS, SIZE = 25, 10, 64
REPEATS = 11
TARGETS = {
    "rewrite that fires": 5,
    "rewrite that does not": 5,
    "verification": 5,
    "parsing": 5,
    "printing": 2,
}

_X = hole("x", ANY_INTEGER)
FIRING = Rules("firing", peephole("add-zero", _X + 0, _X))
IDLE = Rules("idle", peephole("subtract-itself", _X - _X, _X))


def our_module() -> IRModule:
    """Read the module from text."""
    text = list[str]()
    for n in range(FUNCTIONS):
        text.append(f"def f{n}(A: i64[{SIZE}, {SIZE}], B: i64[{SIZE}, {SIZE}]):")
        for _ in range(NESTS):
            text.append(f"    for i in serial(0, {SIZE}):")
            text.append(f"        for j in serial(0, {SIZE}):")
            text.append("            B[i, j] = (A[i, j] + 0) * B[i, j] + A[i, j]")
            text.append("            A[i, j] = B[i, j] * 3 + (B[j, i] + 0) * A[j, i]")
            text.append("            B[j, i] = A[i, j] * 5 - (B[i, j] + 0)")
            text.append("            A[j, i] = (B[i, j] + 0) * (A[i, j] + 7)")
    return parse_module("\n".join(text) + "\n")


def operations(module: IRModule) -> int:
    """Return the number of loops, accesses, arithmetic operations and constants, shared ones each
    time."""
    classes = (For, Load, Store, Binary, Const)
    return sum(_occurrences(func, classes) for func in module.functions.values())


class _Peer:
    """The same module in xDSL, built through its own text."""

    def __init__(self) -> None:
        self.context: Any = import_module("xdsl.context").Context()
        for name in ("Builtin", "Arith", "Func", "MemRef", "Scf"):
            dialect = import_module(f"xdsl.dialects.{name.lower()}")
            self.context.load_dialect(getattr(dialect, name))
        self.parser: Any = import_module("xdsl.parser").Parser
        self.rewriter: Any = import_module("xdsl.pattern_rewriter")
        self.arith: Any = import_module("xdsl.dialects.arith")
        self.module: Any = self.parse(_peer_text())

    def parse(self, text: str) -> Any:
        return self.parser(self.context, text).parse_module()

    def rewrite(self, module: Any, pattern: Any) -> None:
        apply = self.rewriter.GreedyRewritePatternApplier([pattern])
        self.rewriter.PatternRewriteWalker(apply).rewrite_module(module)

    def add_zero(self) -> Any:
        """Return the pattern ``x + 0 -> x``, written as xDSL's own passes are."""
        arith = self.arith

        class AddZero(self.rewriter.RewritePattern):
            def match_and_rewrite(self, op: Any, rewriter: Any) -> None:
                if not isinstance(op, arith.AddiOp):
                    return
                made: Any = op.rhs.owner  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- xDSL is not installed when types are checked
                if isinstance(made, arith.ConstantOp) and made.value.value.data == 0:  # pyright: ignore[reportUnknownMemberType] -- as above
                    rewriter.replace(op, [], [op.lhs])  # pyright: ignore[reportUnknownMemberType] -- as above

        return AddZero()

    def subtract_itself(self) -> Any:
        """Return the pattern ``x - x -> x``, which never matches here."""
        arith = self.arith

        class SubtractItself(self.rewriter.RewritePattern):
            def match_and_rewrite(self, op: Any, rewriter: Any) -> None:
                if isinstance(op, arith.SubiOp) and op.lhs is op.rhs:  # pyright: ignore[reportUnknownMemberType] -- as above
                    rewriter.replace(op, [], [op.lhs])  # pyright: ignore[reportUnknownMemberType] -- as above

        return SubtractItself()


def _peer_text() -> str:
    shape = f"memref<{SIZE}x{SIZE}xi64>"
    text = list[str]()
    number = 0

    def value(line: str) -> str:
        nonlocal number
        number += 1
        text.append(f"%v{number} = {line}")
        return f"%v{number}"

    def load(array: str, at: str = "%i, %j") -> str:
        return value(f"memref.load %{array}[{at}] : {shape}")

    def const(of: int, kind: str = "i64") -> str:
        return value(f"arith.constant {of} : {kind}")

    def binary(name: str, a: str, b: str) -> str:
        return value(f"arith.{name} {a}, {b} : i64")

    def store(array: str, of: str, at: str) -> None:
        text.append(f"memref.store {of}, %{array}[{at}] : {shape}")

    def body() -> None:
        a = binary("muli", binary("addi", load("A"), const(0)), load("B"))
        store("B", binary("addi", a, load("A")), "%i, %j")
        a = binary("muli", load("B"), const(3))
        b = binary("muli", binary("addi", load("B", "%j, %i"), const(0)), load("A", "%j, %i"))
        store("A", binary("addi", a, b), "%i, %j")
        a = binary("muli", load("A"), const(5))
        store("B", binary("subi", a, binary("addi", load("B"), const(0))), "%j, %i")
        a = binary("addi", load("B"), const(0))
        store("A", binary("muli", a, binary("addi", load("A"), const(7))), "%j, %i")

    for n in range(FUNCTIONS):
        text.append(f"func.func @f{n}(%A: {shape}, %B: {shape}) {{")
        for _ in range(NESTS):
            for var in "ij":
                low, high, step = (const(of, "index") for of in (0, SIZE, 1))
                text.append(f"scf.for %{var} = {low} to {high} step {step} {{")
            body()
            text.append("scf.yield }\nscf.yield }")
        text.append("func.return }")
    return "\n".join(text)


Prepare = Callable[[], Callable[[], object]]


def _fixed(run: Callable[[], object]) -> Prepare:
    return lambda: run


def ratios() -> dict[str, tuple[float, float, float]]:
    """Return operations a second of irkit and of xDSL, measured in turn, and the median ratio."""
    module, peer = our_module(), _Peer()
    ours, theirs = operations(module), sum(1 for _ in peer.module.walk())
    text, their_text = module.script(), str(peer.module)
    pairs: dict[str, tuple[Prepare, Prepare]] = {
        "rewrite that fires": (
            _fixed(lambda: _rewritten(module, FIRING)),
            lambda: _run(peer, peer.module.clone(), peer.add_zero()),
        ),
        "rewrite that does not": (
            _fixed(lambda: _rewritten(module, IDLE)),
            lambda: _run(peer, peer.module, peer.subtract_itself()),
        ),
        "verification": (_fixed(lambda: _verified(module)), _fixed(peer.module.verify)),
        "parsing": (_fixed(lambda: parse_module(text)), _fixed(lambda: peer.parse(their_text))),
        "printing": (_fixed(lambda: module.script()), _fixed(lambda: str(peer.module))),
    }
    return {name: _compared(*pair, ours, theirs) for name, pair in pairs.items()}


def _run(peer: _Peer, module: Any, pattern: Any) -> Callable[[], object]:
    return lambda: peer.rewrite(module, pattern)


def _compared(
    ours: Prepare, theirs: Prepare, our_size: int, their_size: int
) -> tuple[float, float, float]:
    ours()()
    theirs()()
    rounds = [(our_size / once(ours()), their_size / once(theirs())) for _ in range(REPEATS)]
    middle = [statistics.median(pair[side] for pair in rounds) for side in (0, 1)]
    return middle[0], middle[1], statistics.median(a / b for a, b in rounds)


def _rewritten(module: IRModule, rules: Rules) -> list[Function]:
    """Rewrite until nothing changes, as xDSL does."""

    def once_more(func: Function) -> Function:
        return rewrite(func, rules)

    settle = fixpoint(once_more, bound=8)
    return [settle(func) for func in module.functions.values()]


def _verified(module: IRModule) -> None:
    for func in module.functions.values():
        assert isinstance(func, PrimFunc)
        assert not verify(func)


def same_arithmetic(module: IRModule, peer: _Peer, other: object = None) -> bool:
    """Return True if both sides have the same number of accesses, sums, differences and
    products."""
    there: Any = peer.module if other is None else other
    names = Counter(op.name for op in there.walk())
    pairs = {
        "memref.load": Load,
        "memref.store": Store,
        "arith.addi": Add,
        "arith.subi": Sub,
        "arith.muli": Mul,
    }
    return all(
        sum(_occurrences(func, cls) for func in module.functions.values()) == names[name]
        for name, cls in pairs.items()
    )


def _occurrences(root: Node, cls: type[Node] | tuple[type[Node], ...]) -> int:
    """Return the number of nodes of a class, shared ones each time."""
    stack, count = [root], 0
    while stack:
        node = stack.pop()
        count += isinstance(node, cls)
        stack.extend(children(node))
    return count


def main() -> None:
    """Print the figures."""
    try:
        peer = _Peer()
    except ModuleNotFoundError:
        print("rewriting: skipped, xDSL is not installed (pip install irkit[bench])")
        return
    module = our_module()
    theirs = sum(1 for _ in peer.module.walk())
    if not same_arithmetic(module, peer):
        raise IRKitError("the two modules differ")
    copy = peer.module.clone()
    peer.rewrite(copy, peer.add_zero())
    if not same_arithmetic(IRModule({f.name: f for f in _rewritten(module, FIRING)}), peer, copy):
        raise IRKitError("the two rewrites differ")
    print(f"a module of {operations(module)} operations here, {theirs} in xDSL")
    for name, (ours, there, ratio) in ratios().items():
        print(
            f"{name}: {ours / 1e3:.0f} k operations/s, xDSL {there / 1e3:.0f} k: "
            f"{ratio:.1f} times (at least {TARGETS[name]})"
        )


if __name__ == "__main__":
    main()
