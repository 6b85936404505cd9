"""What the values of a model say of memory."""

import z3

from irkit.ir import F32, I64, Buffer, Const, Load, Var
from irkit.proof.concrete import ModelElements, ModelValues
from irkit.proof.integers import Integers
from irkit.proof.translate import Translation


def test_a_model_may_say_nothing_of_a_buffer() -> None:
    context = z3.Context()
    translation = Translation(Integers(context), context, {}, 1)
    buffer = Buffer("A", (Const(8, I64),), F32)
    translation.term(Load(buffer, (Var("i", I64),), None, F32))
    solver = z3.Solver(ctx=context)
    assert solver.check() == z3.sat
    values = ModelValues(translation, solver.model())
    assert values.memory_of(buffer) == ModelElements({}, None)
