"""Verify functions: one rule per statement class."""

from collections.abc import Callable, Iterable
from typing import Any

from irkit.core import MAX_PROBLEMS, Node, Problem, check_fields, deep_recursion
from irkit.ir.build import as_int, evaluates
from irkit.ir.dtype import DType
from irkit.ir.function import PrimFunc
from irkit.ir.instructions import memory_problem
from irkit.ir.intrinsics import MAX_CLOCKS, Call, InstructionCall
from irkit.ir.stmt import (
    AXIS_KINDS,
    LOOP_KINDS,
    PLACE_OF_VALUE,
    Allocate,
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Region,
    Seq,
    Store,
    View,
)
from irkit.ir.verify.expression_nodes import WrongField
from irkit.ir.verify.scopes import MAX_STRING, LoopChecker
from irkit.ir.verify.types import access_lanes, access_problem
from irkit.ir.verify.valid_expressions import (
    remember_valid,
    statements_valid_before,
    valid_before,
)


def verify(func: PrimFunc) -> list[Problem]:
    """List the problems of a function, at most ``MAX_PROBLEMS``; an empty list means that it is
    valid."""
    if not isinstance(func, PrimFunc):  # pyright: ignore[reportUnnecessaryIsInstance] -- a pass can return anything
        return [Problem(f"{type(func).__name__} is not a function of loop IR")]
    _before, known = valid_before()  # The function keeps what is known alive.
    # The rules below rely on correct field classes; they check those of expressions themselves.
    broken = _field_problems(func, statements_valid_before(), expressions=False)
    checker = LoopChecker(func, _RULES, known)
    try:
        if not broken:
            checker.signature(func)
            with deep_recursion:
                checker.statement(func.body)
            if not checker.problems:
                remember_valid(func, checker.valid, checker.statements)
                return []
    except WrongField:
        pass
    return _field_problems(func, known) or checker.problems[:MAX_PROBLEMS]


def _field_problems(
    func: PrimFunc, known: Iterable[int], *, expressions: bool = True
) -> list[Problem]:
    valid = {DType: DType.is_known}
    return check_fields(func, valid, limit=MAX_PROBLEMS, known=known, expressions=expressions)


def _seq(checker: LoopChecker, stmt: Seq) -> None:
    if len(stmt.stmts) == 1 or any(isinstance(inner, Seq) for inner in stmt.stmts):
        checker.report("a sequence holds one statement, or a sequence; build it with seq()")
    for inner in stmt.stmts:
        checker.statement(inner)


def _store(checker: LoopChecker, stmt: Store) -> None:
    buffer = stmt.buffer
    checker.use(buffer)
    for index in stmt.indices:
        checker.expr(index)
    if stmt.mask is not None:
        checker.expr(stmt.mask)
    kind = checker.expr(stmt.value)
    found = access_problem(buffer, stmt.indices, stmt.mask)
    wanted = buffer.dtype.with_lanes(access_lanes(stmt.indices))
    if found is not None:
        checker.report(found)
    elif kind != wanted:
        checker.report(f"a {kind} is stored in buffer {buffer.name!r}; expected {wanted}")
    elif isinstance(stmt.value, InstructionCall):
        found = memory_problem(stmt)
        if found is not None:
            checker.report(found)


def _for(checker: LoopChecker, stmt: For) -> None:
    name = f"loop {stmt.var.name!r}"
    begin = checker.integer(stmt.begin, f"the begin of {name}")
    end = checker.integer(stmt.end, f"the end of {name}")
    if not begin == end == stmt.var.dtype:
        checker.report(f"{name} has type {stmt.var.dtype}, but runs from {begin} to {end}")
    checker.attrs(stmt.attrs)
    if stmt.kind not in LOOP_KINDS:
        checker.report(f"{name} is {stmt.kind!r}; expected one of {', '.join(LOOP_KINDS)}")
    if stmt.kind == "thread":
        checker.thread(stmt, name)
    elif stmt.thread:
        checker.report(f"{name} is {stmt.kind}, so it has no thread axis {stmt.thread!r}")
    checker.loop(stmt)


def _block(checker: LoopChecker, stmt: Block) -> None:
    for axis in stmt.axes:
        name = f"axis {axis.var.name!r} of block {stmt.name!r}"
        checker.integer(axis.extent, f"the extent of {name}")
        binding = checker.integer(axis.binding, f"the binding of {name}")
        if binding != axis.var.dtype:
            checker.report(f"{name} has type {axis.var.dtype}, its binding {binding}")
        if axis.kind not in AXIS_KINDS:
            checker.report(f"{name} is {axis.kind!r}; expected one of {', '.join(AXIS_KINDS)}")
    checker.attrs(stmt.attrs)
    axes = tuple(axis.var for axis in stmt.axes)
    for var in axes:
        checker.bind(var)
    if stmt.predicate is not None:
        checker.condition(stmt.predicate, f"the predicate of block {stmt.name!r}")
    for region in (*(stmt.reads or ()), *(stmt.writes or ())):
        _region(checker, region)
    if stmt.init is not None:
        checker.statement(stmt.init)
    checker.statement(stmt.body)
    checker.leave(axes)


def _region(checker: LoopChecker, region: Region) -> None:
    buffer = region.buffer
    checker.use(buffer)
    if not len(region.begins) == len(region.extents) == buffer.rank:
        checker.report(f"a region of buffer {buffer.name!r} does not have {buffer.rank} dimensions")
    for expr in (*region.begins, *region.extents):
        checker.integer(expr, f"a bound of a region of buffer {buffer.name!r}")


def _if(checker: LoopChecker, stmt: If) -> None:
    checker.condition(stmt.cond, "the condition of an if")
    checker.statement(stmt.then)
    if stmt.otherwise is not None:
        checker.statement(stmt.otherwise)


def _let(checker: LoopChecker, stmt: Let) -> None:
    kind = checker.expr(stmt.value)
    if kind != stmt.var.dtype:
        checker.report(f"variable {stmt.var.name!r} has type {stmt.var.dtype}, its value {kind}")
    checker.scope((stmt.var,), stmt.body)


def _allocate(checker: LoopChecker, stmt: Allocate) -> None:
    checker.buffer(stmt.buffer)
    checker.attrs(stmt.attrs)
    checker.scope((stmt.buffer,), stmt.body)


def _view(checker: LoopChecker, stmt: View) -> None:
    name = f"view {stmt.buffer.name!r}"
    checker.use(stmt.source)
    checker.buffer(stmt.buffer)
    checker.integer(stmt.offset, f"the offset of {name}")
    if stmt.buffer.dtype != stmt.source.dtype:
        checker.report(
            f"{name} has elements of type {stmt.buffer.dtype}, its source {stmt.source.dtype}"
        )
    checker.scope((stmt.buffer,), stmt.body)


def _evaluate(checker: LoopChecker, stmt: Evaluate) -> None:
    checker.expr(stmt.value)
    if evaluates(stmt, "barrier"):
        checker.barrier()
    if evaluates(stmt, "start_clock") or evaluates(stmt, "stop_clock"):
        _clock(checker, stmt)


def _clock(checker: LoopChecker, stmt: Evaluate) -> None:
    assert isinstance(stmt.value, Call)
    for argument in stmt.value.args:
        checker.integer(argument, f"an argument of {stmt.value.name}")
    number = as_int(stmt.value.args[0]) if stmt.value.args else None
    if number is None or not 0 <= number < MAX_CLOCKS:
        checker.report(
            f"the number of {stmt.value.name} is not a constant from 0 to {MAX_CLOCKS - 1}"
        )


def _assert(checker: LoopChecker, stmt: Assert) -> None:
    checker.condition(stmt.cond, "the condition of an assertion")
    if len(stmt.message) > MAX_STRING:
        checker.report(f"the message of an assertion is longer than {MAX_STRING} characters")
    for value in stmt.values:
        checker.integer(value, "a value in the message of an assertion")
    if stmt.values and stmt.message.count(PLACE_OF_VALUE) != len(stmt.values):
        checker.report(
            f"the message of an assertion has {stmt.message.count(PLACE_OF_VALUE)} places for "
            f"{len(stmt.values)} values"
        )


_RULES: dict[type[Node], Callable[[LoopChecker, Any], None]] = {
    Seq: _seq,
    Store: _store,
    For: _for,
    Block: _block,
    If: _if,
    Let: _let,
    Allocate: _allocate,
    View: _view,
    Evaluate: _evaluate,
    Assert: _assert,
}
