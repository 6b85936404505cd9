import re
from pathlib import Path

import pytest

import irkit.ir
from irkit.core import Node, rewrite, same, structural_hash
from irkit.ir import F32, LOOP_LEVEL, Buffer, Const, PrimFunc, Store, parse, script, seq
from irkit.transform import PassFailed, Phase, Pipeline, Trace, define_pass

MATMUL = """\
def matmul(A: f32[m, 64], B: f32[64, n], C: f32[m, n]):
    for i in parallel(0, m):
        for j in serial(0, n):
            for k in serial(0, 64):
                with block("C"):
                    vi = axis.spatial(m, i)
                    vj = axis.spatial(n, j)
                    vk = axis.reduce(64, k)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


@define_pass
def start_at_one(func: PrimFunc) -> PrimFunc:
    def one(node: Const) -> Node | None:
        return Const(1.0, F32) if node.dtype == F32 else None

    return rewrite(func, one, on=Const)


@define_pass
def lose_a_buffer(func: PrimFunc) -> PrimFunc:
    stray = Buffer("Z", (Const(1, func.params[0].dtype),), F32)
    return rewrite(func, lambda store: store.replace(buffer=stray), on=Store)


@define_pass
def change_signature(func: PrimFunc) -> PrimFunc:
    return func.replace(params=func.params[:1], body=seq())


def pipeline(*passes: object) -> Pipeline:
    return Pipeline(LOOP_LEVEL, (Phase(0, "raw", passes),))  # pyright: ignore


def test_a_trace_of_loops_with_blocks_prints_the_same_after_a_file(tmp_path: Path) -> None:
    trace = Trace.of(pipeline(start_at_one).steps(parse(MATMUL)))
    trace.save(tmp_path / "t")
    (step,) = Trace.load(tmp_path / "t", [LOOP_LEVEL])
    assert step.changed
    assert step.scripts() == trace[0].scripts()
    assert "f32(1.0)" in step.scripts()[1]
    assert same(step.after, trace[0].after)


def test_the_hash_of_a_function_does_not_depend_on_its_names() -> None:
    func = parse(MATMUL)
    other = parse(MATMUL.replace("vi", "p").replace("A:", "X:").replace("A[", "X["))
    assert structural_hash(func) == structural_hash(other)
    assert script(func) != script(other)
    assert structural_hash(func) != structural_hash(parse(MATMUL.replace("64", "65")))


@pytest.mark.parametrize("guilty", [lose_a_buffer, change_signature])
def test_a_pass_that_breaks_a_loop_function_is_named(guilty: object) -> None:
    with pytest.raises(PassFailed) as caught:
        pipeline(start_at_one, guilty).run(parse(MATMUL))
    assert caught.value.name == getattr(guilty, "name", None)


def test_the_grammar_in_the_docstring_names_every_class() -> None:
    words = set(re.findall(r"\w+", irkit.ir.__doc__ or ""))
    assert {cls.__name__ for cls in LOOP_LEVEL.nodes} <= words
