"""The result of running one pass on one function or module, and the errors of a failed run."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, Literal

import msgspec

from irkit.core import (
    Application,
    Function,
    IRKitError,
    IRModule,
    Level,
    Names,
    Problem,
    Remark,
    RuleReport,
)
from irkit.transform.define import AnyPass
from irkit.transform.facts import Fact

IR = Function | IRModule
Side = Literal["before", "after"]
NumberedPass = tuple[int, str, AnyPass]
FailureKind = Literal[
    "exception", "class", "signature", "problems", "nodes", "timeout", "memory", "crash", "input"
]


class FunctionState(msgspec.Struct, frozen=True, eq=False):
    """A function as it is before or after a step. ``key`` is the same where the function is the
    same object; ``read`` returns it, and may have to read it from a file."""

    name: str
    key: Hashable
    read: Callable[[], Function]


class Step(msgspec.Struct, frozen=True, eq=False):
    """The result of one pass on one function, or on a module (then ``function`` is empty).

    ``pass_text`` is the name with its options; ``applications`` counts the rewrites; ``facts`` are
    the names of those in force afterwards; ``changes_rounding`` is what the pass declares. Units:
    ``seconds`` is the pass alone, without the checks; ``reports`` has the time of each rule if it
    was asked for.
    """

    index: int
    level: Level
    phase: int
    phase_name: str
    name: str
    pass_text: str
    options: dict[str, Any]
    function: str
    before: IR
    after: IR
    seconds: float
    applications: int = 0
    kept: tuple[Application, ...] = ()
    remarks: tuple[Remark, ...] = ()
    facts: tuple[str, ...] = ()
    reports: tuple[RuleReport, ...] = ()
    changes_rounding: bool = False

    @property
    def rules(self) -> Counter[str]:
        """Count the applications by rule name."""
        return Counter({each.rule: each.hits for each in self.reports if each.hits})

    @property
    def changed(self) -> bool:
        """True if the pass changed anything."""
        return self.after is not self.before

    @property
    def remark_count(self) -> int:
        """The number of remarks, for which nothing is read."""
        return len(self.remarks)

    @property
    def unread(self) -> int:
        """About how many nodes have to be read from a file to have both sides; 0 if none."""
        return 0

    def states(self, side: Side) -> list[FunctionState]:
        """Return the functions before or after the step, without reading them from a file."""
        ir = self.before if side == "before" else self.after
        found = ir.functions if isinstance(ir, IRModule) else {self.function or ir.name: ir}
        return [
            FunctionState(name, id(func), lambda func=func: func) for name, func in found.items()
        ]

    def scripts(self, names: Names | None = None) -> tuple[str, str]:
        """Print the IR before and after; the same text twice if nothing changed.

        ``names`` is the name table of the trace. Without it, the two sides share a table of their
        own, so that unchanged parts print alike.
        """
        names = Names() if names is None else names
        before = script_of(self.level, self.before, names)
        return before, script_of(self.level, self.after, names) if self.changed else before

    def applied_to(self, ir: IR) -> IR:
        """Return the pipeline's IR with the result of the step in place."""
        if isinstance(ir, IRModule) and isinstance(self.after, Function):
            return ir.with_functions({self.function: self.after})
        return self.after


def functions_of(ir: IR, classes: tuple[type[Function], ...] = (Function,)) -> list[Function]:
    """Return the functions of some classes in a module, or the one function."""
    if isinstance(ir, IRModule):
        return [func for func in ir.functions.values() if isinstance(func, classes)]
    return [ir]


def script_of(level: Level, ir: IR, names: Names | None = None) -> str:
    """Print a function or a module."""
    return ir.script(names=names) if isinstance(ir, IRModule) else level.script(ir, names=names)


class VerificationFailed(IRKitError):
    """IR that violates the rules of its level, or a fact; ``problems`` lists how."""

    problems: tuple[Problem, ...]

    def __init__(self, message: str, problems: tuple[Problem, ...] = (), *, hint: str = "") -> None:
        self.problems = problems
        super().__init__(message, hint=hint)

    def picklable_state(self) -> dict[str, Any]:
        return {
            **super().picklable_state(),
            "problems": tuple(Problem(str(p)) for p in self.problems),
        }


class Attempt(msgspec.Struct, frozen=True, eq=False):
    """One pass about to run, with everything needed to run it again.

    ``passes`` are those of its pipeline, each with number and name of its phase, and ``at`` is its
    index among them; ``facts`` hold before it. ``disabled`` are the rewrites that must not happen.
    """

    level: Level
    passes: tuple[NumberedPass, ...]
    at: int
    index: int
    function: str
    before: IR
    facts: tuple[Fact, ...]
    verify: bool = True
    keep: bool = False
    disabled: frozenset[int] = frozenset()

    @property
    def phase(self) -> int:
        """The number of its phase."""
        return self.passes[self.at][0]

    @property
    def p(self) -> AnyPass:
        """The pass."""
        return self.passes[self.at][2]

    @property
    def facts_after(self) -> tuple[Fact, ...]:
        """The facts in force after it has run."""
        kept = dict.fromkeys(fact for fact in self.facts if fact not in self.p.breaks)
        return tuple(kept | dict.fromkeys(self.p.gives))

    def failure(
        self,
        kind: FailureKind,
        what: str,
        after: object = None,
        problems: tuple[Problem, ...] = (),
    ) -> "PassFailed":
        """Return the error that says that this pass failed, and how."""
        return PassFailed(
            what,
            name=self.p.name,
            pass_text=str(self.p),
            phase=self.phase,
            function=self.function,
            before=self.before,
            after=after,
            problems=problems,
            kind=kind,
            attempt=self,
        )


class PassHalted(IRKitError):
    """A pass that was stopped, or that took its process down; ``traceback`` shows where it was.

    ``seconds`` and ``memory`` (bytes) are its limits.
    """

    seconds: float | None = None
    memory: int | None = None

    def __init__(self, kind: FailureKind, message: str, traceback: str = "") -> None:
        self.kind: FailureKind = kind
        self.traceback = traceback
        super().__init__(message)


class PassFailed(VerificationFailed):
    """A pass that raised, returned the wrong class or invalid IR, exceeded a limit, crashed, or
    changed its input in place.

    ``name``, ``pass_text``, ``phase`` and ``function`` tell where, ``kind`` how; ``before`` is the
    IR it was given; ``after`` is what it returned, if anything; ``attempt`` can run it again;
    ``__cause__`` is the exception inside it. In another process the last four are None.
    """

    def __init__(
        self,
        what: str,
        *,
        name: str,
        pass_text: str,
        phase: int,
        function: str,
        before: IR,
        after: object = None,
        problems: tuple[Problem, ...] = (),
        kind: FailureKind = "exception",
        attempt: Attempt | None = None,
    ) -> None:
        self.what, self.attempt = what, attempt
        self.kind: FailureKind = kind
        self.name, self.pass_text, self.phase, self.function = name, pass_text, phase, function
        self.before, self.after = before, after
        where = f"function {function!r}" if function else "the module"
        super().__init__(
            f"phase {phase}: pass '{pass_text}' on {where}: {what}",
            problems,
            hint=list_problems(problems),
        )

    def picklable_state(self) -> dict[str, Any]:
        return {**super().picklable_state(), "before": None, "after": None, "attempt": None}


def list_problems(problems: tuple[Problem, ...], at_most: int = 8) -> str:
    """List problems, one per line, up to ``at_most``."""
    lines = [str(problem) for problem in problems[:at_most]]
    if len(problems) > at_most:
        lines.append(f"and {len(problems) - at_most} more")
    return "\n  ".join(lines)
