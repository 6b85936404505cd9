"""Every operator of the graph is the target of an ONNX converter, or is excused by name."""

import ast
from pathlib import Path

from irkit.frontend.onnx import convert
from irkit.graph import OPS

NO_CONVERTER_YET = frozenset(
    (
        "exp",
        "log",
        "sqrt",
        "reciprocal",
        "erf",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
        "floor",
        "ceil",
        "round",
        "negative",
        "abs",
        "sign",
        "isnan",
        "isinf",
        "logical_not",
        "cast",
        "power",
        "floor_mod",
        "fmod",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "shift_left",
        "shift_right",
        "equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "where",
        "sum",
        "prod",
        "max",
        "min",
        "argmax",
        "argmin",
        "log_softmax",
        "broadcast_to",
        "slice",
        "pad",
        "take",
    )
)
"""Operators that ONNX has too, for which irkit has no converter yet."""
EXCUSES = {
    "exp2": "ONNX has no such operator",
    "expm1": "ONNX has no such operator",
    "log2": "ONNX has no such operator",
    "log10": "ONNX has no such operator",
    "log1p": "ONNX has no such operator",
    "rsqrt": "ONNX has no such operator",
    "trunc": "ONNX has no such operator",
    "isfinite": "ONNX has no such operator",
    "atan2": "ONNX has no such operator",
    "not_equal": "ONNX writes Not(Equal(a, b))",
    "identity": "the converter of Identity returns its input",
    "expand_dims": "the converter of Unsqueeze writes reshape",
    "squeeze": "the converter of Squeeze writes reshape",
    "full_like": "ConstantOfShape becomes a constant, since its shape must be known on import",
}


def targets() -> set[str]:
    """Return the graph operators that the source of the converters names."""
    names: set[str] = set()
    for path in Path(convert.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            match call:
                case ast.Call(
                    ast.Attribute(attr="op") | ast.Name("unary" | "binary" | "variadic"),
                    [ast.Constant(str(name)), *_],
                ):
                    names.add(name)
                case _:
                    pass
    return names


def test_every_operator_is_reached_by_a_converter_or_excused() -> None:
    assert set(OPS) == targets() | NO_CONVERTER_YET | set(EXCUSES)


def test_an_operator_is_not_excused_although_it_is_reached() -> None:
    assert not targets() & NO_CONVERTER_YET
    assert not targets() & set(EXCUSES)
    assert not NO_CONVERTER_YET & set(EXCUSES)
