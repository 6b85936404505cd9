"""Read a schedule that is printed as Python: the statements are parsed, and nothing is executed."""

import ast
from typing import cast

from irkit.core import ParseError
from irkit.schedule.limits import MOST_FILE_BYTES
from irkit.schedule.trace.schedule_trace import (
    BufferName,
    ExprText,
    MapText,
    Ref,
    ScheduleTrace,
    TraceStep,
    Value,
)

SCHEDULE = "sch"


def read_schedule(text: str, *, file: str = "schedule") -> ScheduleTrace:
    """Read what :meth:`ScheduleTrace.as_python` prints; blank lines and comments may be added.

    Raises: ParseError that names the line if it is anything else.
    """
    if len(text) > MOST_FILE_BYTES:
        raise ParseError(f"{file}: a schedule has at most {MOST_FILE_BYTES} characters")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        said = getattr(error, "msg", None) or str(error)
        raise ParseError(f"{file}:{line}: this is not Python: {said}") from None
    reader = _Reader(text, file)
    return ScheduleTrace(tuple(reader.step(each) for each in body))


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file

    def step(self, stmt: ast.stmt) -> TraceStep:
        match stmt:
            case ast.Expr(ast.Call() as call):
                results, several = (), False
            case ast.Assign([target], ast.Call() as call):
                results, several = self.results(target)
            case _:
                raise self.error(stmt, f"expected a call of a primitive of {SCHEDULE!r}")
        match call.func:
            case ast.Attribute(ast.Name("sch"), primitive):
                pass
            case _:
                raise self.error(stmt, f"expected a call such as {SCHEDULE}.split(...)")
        options = [(each.arg or "", self.value(each.value)) for each in call.keywords]
        if any(not name for name, _ in options):
            raise self.error(stmt, "** is not possible here")
        drawn = dict(options).get("decision")
        return TraceStep(
            primitive,
            tuple(self.value(arg) for arg in call.args),
            tuple(each for each in options if each[0] != "decision"),
            results,
            several,
            drawn,
        )

    def results(self, target: ast.expr) -> tuple[tuple[str, ...], bool]:
        match target:
            case ast.Name(name):
                return (name,), False
            case ast.Tuple(items) | ast.List(items) if all(isinstance(i, ast.Name) for i in items):
                return tuple(cast(ast.Name, item).id for item in items), True
            case _:
                raise self.error(target, "expected names on the left of =")

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(None | bool() | int() | float() | str() as constant):
                return constant
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                return -number
            case ast.Name(name):
                return Ref(name)
            case ast.List(items) | ast.Tuple(items):
                return tuple([self.value(item) for item in items])
            case ast.Lambda():
                return MapText(ast.get_source_segment(self.text, node) or "")
            case ast.Call(ast.Attribute(ast.Name("sch"), "expr"), [ast.Constant(str() as text)]):
                return ExprText(text)
            case ast.Call(
                ast.Attribute(ast.Name("sch"), "buffer"), [ast.Constant(str() as name), *rest]
            ):
                match rest:
                    case []:
                        return BufferName(name)
                    case [ast.Constant(int() as at)]:
                        return BufferName(name, at)
                    case _:
                        pass
            case _:
                pass
        raise self.error(node, "expected a number, text, name, list, lambda, expression or buffer")

    def error(self, node: ast.stmt | ast.expr, what: str) -> ParseError:
        found = (ast.get_source_segment(self.text, node) or "").split("\n")[0][:80]
        return ParseError(f"{self.file}:{node.lineno}: {what}, found {found!r}")
