"""Whether the accesses of a function stay inside their buffers, for all inputs and sizes."""

from typing import Any, Literal

import msgspec

from irkit.core import IRKitError, Span
from irkit.ir import Expr, PrimFunc, ge, loop_ranges, lt, prove
from irkit.ir.arith import Ranges
from irkit.proof.accesses.guarded_accesses import GuardedAccess, Kind, visit_accesses
from irkit.proof.accesses.questions import Question
from irkit.proof.accesses.witness import confirmed
from irkit.proof.concrete import ModelValues
from irkit.proof.solver import paused_collector, z3_module
from irkit.proof.texts import expr_text
from irkit.proof.translate import TooManyNodes

BoundsStatus = Literal["in bounds", "out of bounds", "depends on data", "not known"]


class AccessBounds(msgspec.Struct, frozen=True):
    """What is known about one access.

    ``in bounds``: for all arguments that the signature allows; ``how`` names what showed it.
    ``out of bounds``: for the arguments in ``message``. ``depends on data``: an index, or what it
    must be below, was loaded, and nothing checks it; ``message`` gives values for which it is
    outside. ``not known``: ``message`` is the reason.
    """

    kind: Kind
    text: str
    span: Span | None
    status: BoundsStatus
    how: str = ""
    message: str = ""

    def __str__(self) -> str:
        where = "" if self.span is None else f"{self.span}: "
        why = f": {self.message}" if self.message else ""
        return f"{where}{self.kind} {self.text}: {self.status}{why}"


@paused_collector
def check_bounds(func: PrimFunc) -> tuple[AccessBounds, ...]:
    """Return what is known about each load, store, view and axis of a block.

    A sum that overflows counts as what it wraps around to. Raises: IRKitError if z3 is not
    installed; ProofFault as ``prove_equal``.
    """
    checker = _Checker(func)
    visit_accesses(func, checker.visit)
    return tuple(checker.found)


class _Checker:
    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.ranges = loop_ranges(func)
        self.context: Any = z3_module().Context()
        self.found: list[AccessBounds] = []

    def visit(self, access: GuardedAccess) -> None:
        if access.view is None and is_inside(access, self.ranges):
            self.found.append(self.made(access, "in bounds", how="ranges"))
            return
        try:
            question = Question(access, self.context)
        except TooManyNodes:
            message = "it is too large to translate"
            self.found.append(self.made(access, "not known", message=message))
            return
        answer, z3 = question.answer(), question.z3
        if answer == z3.unsat:
            self.found.append(self.made(access, "in bounds", how="z3"))
            return
        model = question.smallest(question.outside)
        if model is None:
            message = "z3 found neither a proof nor values in its time"
            self.found.append(self.made(access, "not known", message=message))
            return
        self.found.append(self.refuted(access, question, model))

    def refuted(
        self, access: GuardedAccess, question: Question, model: ModelValues
    ) -> AccessBounds:
        """Return what values mean for which an access is outside: run the function on them."""
        shown = self.shown(access, question, model)
        said = confirmed(self.func, access, model)
        if said:
            status: BoundsStatus = "depends on data" if access.from_data else "out of bounds"
            return self.made(access, status, how="interpreter", message=f"{shown}: {said}")
        if access.from_data:
            return self.made(access, "depends on data", message=shown)
        if said is None and access.complete and self.evaluates(access, model):
            return self.made(access, "out of bounds", how="evaluation", message=shown)
        why = "memory that conditions read changes" if not access.complete else "not seen in a run"
        return self.made(access, "not known", message=f"perhaps at {shown} ({why})")

    def evaluates(self, access: GuardedAccess, model: ModelValues) -> bool:
        """Return True if the interpreter finds all facts true at the values of a model, and an
        index outside."""
        try:
            if not all(bool(model.at_lane(model.of(fact))) for fact in access.facts):
                return False
            if access.view is not None:
                return True
            sides = [
                (int(model.at_lane(model.of(index))), int(model.at_lane(model.of(extent))))
                for index, extent in access.sides
            ]
        except IRKitError:
            return False
        return any(not 0 <= at < end for at, end in sides)

    def shown(self, access: GuardedAccess, question: Question, model: ModelValues) -> str:
        indices = ", ".join(str(each) for each in question.values(model))
        given = ", ".join(f"{name} = {value}" for name, value in model.shown.items())
        at = f"offset {indices}" if access.view is not None else f"{access.name}[{indices}]"
        at = f"{access.name} = {indices}" if access.kind == "axis" else at
        return f"{at} where {given}" if given else at

    def made(
        self, access: GuardedAccess, status: BoundsStatus, how: str = "", message: str = ""
    ) -> AccessBounds:
        indices = ", ".join([expr_text(index) for index, _ in access.sides])
        text = f"{access.name}[{indices}]"
        if access.view is not None:
            text = f"{access.name} from {expr_text(access.view.offset)}"
        elif access.kind == "axis":
            text = f"{access.name} = {indices}"
        return AccessBounds(access.kind, text, access.span, status, how, message)


def is_inside(access: GuardedAccess, ranges: Ranges) -> bool:
    """Return True if irkit's arithmetic shows that each index is inside."""
    facts = [fact for fact in access.facts if fact.dtype.lanes == 1]
    for index, extent in access.sides:
        conds: list[Expr] = [ge(index, 0), lt(index, extent)]
        if not all(prove(cond, ranges, facts) for cond in conds):
            return False
    return True
