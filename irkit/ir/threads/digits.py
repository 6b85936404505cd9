"""The digits of a thread's number: what it is divided by, as loops of their own."""

from irkit.core import walk
from irkit.ir.analysis import digit_weights
from irkit.ir.build import as_int, is_thread_loop, trip_count
from irkit.ir.expr import Const, Expr, Var
from irkit.ir.stmt import For, Seq, Stmt

Digit = tuple[For, int]
"""A loop over a digit, with what one step of it adds to the number."""


def thread_digits(body: Stmt) -> dict[Var, list[Digit]]:
    """Return the digits, highest first, of the variables of thread loops that are divided by
    constants: of ``t`` in 0 to 31, with ``t // 4`` and ``t % 4`` somewhere, eight and four."""
    found = dict[Var, list[Digit]]()
    for loop in walk(body, For):
        count = trip_count(loop)
        if is_thread_loop(loop) and as_int(loop.begin) == 0 and count is not None and count > 1:
            divisors = {each for each in digit_weights(loop) if 1 < each < count}
            digits = _digits(loop.var, count, {each for each in divisors if count % each == 0})
            if len(digits) > 1:
                found[loop.var] = digits
    return found


def value_of(digits: list[Digit]) -> Expr:
    """Return the number that digits make."""
    terms = [digit.var * step if step > 1 else digit.var for digit, step in digits]
    return sum(terms[1:], terms[0])


def _digits(var: Var, count: int, divisors: set[int]) -> list[Digit]:
    steps = [1]
    for divisor in sorted(divisors):
        if divisor % steps[-1] == 0:
            steps.append(divisor)
    made, above = list[Digit](), count
    for step in reversed(steps):
        zero, end = Const(0, var.dtype), Const(above // step, var.dtype)
        made.append((For(Var(f"{var.name}_{step}", var.dtype), zero, end, Seq(())), step))
        above = step
    return made
