"""A pipeline whose steps change, remark on, drop and leave functions."""

from irkit.core import IRModule, remark, rewrite
from irkit.ir import LOOP_LEVEL, Const, For, PrimFunc, parse
from irkit.transform import Phase, Pipeline, define_pass


def kernel(name: str) -> PrimFunc:
    return parse(f"def {name}(C: f32[8]):\n    for i in serial(0, 8):\n        C[i] = f32(1.0)\n")


@define_pass
def unroll(func: PrimFunc) -> PrimFunc:
    def mark(loop: For) -> For | None:
        remark(loop, "seen")
        remark(Const(99, loop.var.dtype), "made on the way")
        return loop.replace(kind="unrolled")

    return rewrite(func, mark, on=For)


@define_pass
def drop_g(module: IRModule) -> IRModule:
    remark(module["f"], "kept")
    return module.with_functions({"g": None, "h": kernel("h")})


MODULE = IRModule({"f": kernel("f"), "g": kernel("g")})
PIPELINE = Pipeline(
    LOOP_LEVEL, (Phase(0, "raw"), Phase(1, "a", (unroll,)), Phase(2, "b", (drop_g,)), Phase(3, "c"))
)
STEPS = list(PIPELINE.steps(MODULE))
