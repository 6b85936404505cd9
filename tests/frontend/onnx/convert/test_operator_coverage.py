"""Every operator of the graph is the target of an ONNX converter, or is excused by name."""

import ast
from pathlib import Path

from irkit.frontend.onnx import convert
from irkit.graph import OPS

EXCUSES = {
    "exp2": "ONNX has no such operator",
    "log2": "ONNX has no such operator",
    "log10": "ONNX has no such operator",
    "rsqrt": "ONNX has no such operator",
    "atan2": "ONNX has no such operator",
    "identity": "the converter of Identity returns its input",
    **dict.fromkeys(("block_channels", "unblock_channels"), "block-channels makes it"),
    **dict.fromkeys(("conv_blocked", "depthwise_blocked"), "block-channels makes it"),
    **dict.fromkeys(("conv_gathered", "gather_channels", "lrn_blocked"), "block-channels makes it"),
    "attention": "fuse-attention makes it of the operators that Attention stands for",
    "conv_winograd": "use-winograd makes it",
    **dict.fromkeys(("matmul_panels", "matmul_quantized_panels"), "pack-panels makes it"),
    "full_like": "ConstantOfShape becomes a constant, since its shape must be known on import",
}


def targets() -> set[str]:
    """Return the graph operators that the source of the converters names."""
    names: set[str] = set()
    for path in Path(convert.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            match call:
                case ast.Call(ast.Attribute(attr="cast")):
                    names.add("cast")
                case ast.Call(func, [name, *_]) if _makes_an_operator(func):
                    names |= {
                        each.value
                        for each in ast.walk(name)
                        if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    }
                case _:
                    pass
    return names


def _makes_an_operator(func: ast.expr) -> bool:
    match func:
        case ast.Attribute(attr="op") | ast.Name(
            "unary" | "binary" | "variadic" | "reduction" | "arg"
        ):
            return True
        case _:
            return False


def test_every_operator_is_reached_by_a_converter_or_excused() -> None:
    assert set(OPS) == (targets() & set(OPS)) | set(EXCUSES)


def test_an_operator_is_not_excused_although_it_is_reached() -> None:
    assert not targets() & set(EXCUSES)
