"""Two targets are compared, and the first line that differs is the one with the planted bug."""

import shutil
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.codegen.c import expressions
from irkit.core import IRKitError, Target, rewrite
from irkit.debug import CheckOptions, NativeWorker, TargetVerdict
from irkit.debug.check.difference import compare
from irkit.debug.execution.inputs import InputSet
from irkit.debug.targets import TargetCall, TargetComparison, compiled, inputs_of, target_executor
from irkit.debug.targets.call_image import ALIGN, call_image
from irkit.debug.targets.first_line import first_line
from irkit.debug.targets.here import InterpretedTarget
from irkit.debug.targets.store_log import with_store_log
from irkit.fuzz import arguments
from irkit.ir import Const, Expr, If, Load, Max, Min, PrimFunc, interpret, parse
from irkit.phases import DEFAULT
from tests.codegen.c.test_c_source import drawn
from tests.draws import few_or_all

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt install gcc")
STEPS = """
def f(A: f32[n, 8], C: f32[n, 8]):
    for i in parallel(0, n):
        for j in serial(0, 8):
            C[i, j] = A[i, j] * A[i, j] + f32(0.1)
    for i in serial(0, n):
        for j in serial(0, 8):
            C[i, j] = max(C[i, j], f32(0.5)) - A[i, 7 - j]
"""


def comparison(
    first: Any, second: Any, *, contract: bool = False, texts: str = STEPS
) -> TargetVerdict:
    func = parse(texts)
    inputs, why = inputs_of(func, CheckOptions())
    assert not why
    worker = NativeWorker(60)
    try:
        compared = TargetComparison(
            first, second, target_executor("interpreter"), worker, contract=contract,
            max_steps=1_000_000,
        )  # fmt: skip
        return compared.verdict(DEFAULT.run(func), inputs)
    finally:
        worker.close()


class Changed(InterpretedTarget):
    """The interpreter, as the target of a code generator with a bug."""

    def __init__(self, change: Callable[[PrimFunc], PrimFunc]) -> None:
        super().__init__(1_000_000)
        self.name, self.legalise = "changed", lambda func, _: change(func)


def of_constant(old: float, new: float) -> Changed:
    def swap(node: Const) -> Const | None:
        return node.replace(value=new) if node.value == old and node.dtype.is_float else None

    return Changed(lambda func: rewrite(func, swap, on=Const))


@needs_cc
def test_a_bug_in_the_code_generator_of_c_is_found_at_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert comparison(target_executor("interpreter"), target_executor("c")).status == "same"
    monkeypatch.setitem(expressions.EMIT, Max, expressions.EMIT[Min])
    found = comparison(target_executor("interpreter"), target_executor("c"))
    assert (found.status, found.buffer, found.right) == ("differs", "C", "interpreter")
    assert found.line is not None
    assert "max(" in found.line.text
    assert set(found.line.values) == {"interpreter", "c"}
    assert str(found).count("max(") == 1


def test_the_first_line_that_differs_is_not_the_last() -> None:
    found = comparison(target_executor("interpreter"), of_constant(0.1, 0.2))
    assert found.line is not None
    assert "+ 0.1" in found.line.text
    assert found.line.place == 0
    assert found.right == "interpreter"


@pytest.mark.parametrize("contract", [True, False])
def test_rounding_is_within_its_bound_unless_bits_must_agree(contract: bool) -> None:
    changed = of_constant(0.1, 0.1000001)
    found = comparison(target_executor("interpreter"), changed, contract=contract)
    assert found.status == ("rounds differently" if contract else "differs")
    far = of_constant(0.1, 0.1001)
    assert comparison(target_executor("interpreter"), far, contract=contract).is_wrong


def test_targets_that_go_different_ways_are_told_where() -> None:
    text = """
def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        if A[i] > f32(0.0):
            C[i] = f32(1.0)
        else:
            C[i] = f32(2.0)
"""

    def turn(node: If) -> If | None:
        assert node.otherwise is not None
        return node.replace(then=node.otherwise, otherwise=node.then)

    def changed(func: PrimFunc) -> PrimFunc:
        return rewrite(func, lambda n: turn(n) if n.otherwise is not None else None, on=If)

    found = comparison(target_executor("interpreter"), Changed(changed), texts=text)
    assert found.line is not None
    assert found.line.branched
    assert {found.line.text.strip()[-3:], found.line.other.strip()[-3:]} <= {"1.0", "2.0"}


def test_a_log_changes_no_result_and_its_parts_are_those_of_the_whole() -> None:
    for func in drawn(few_or_all(4, 200), 21):
        low = DEFAULT.run(func)
        args = arguments(low, seed=3)
        plain = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        with np.errstate(all="ignore"):
            try:
                interpret(low, *plain)
            except IRKitError:
                continue
            whole = _logged(low, args, 4096, 0)
            assert irkit.ir.verify(with_store_log(low, 64).func) == []
            for mine, own in zip(whole[0], plain, strict=False):
                np.testing.assert_array_equal(mine, own)
            log = whole[1]
            if 64 < log.count < 4000:
                later = _logged(low, args, 4096, 32)[1]
                seen = later.lines[: log.count - 32]
                np.testing.assert_array_equal(seen[64:], log.lines[96 : log.count])


def _logged(func: PrimFunc, args: list[Any], room: int, first: int) -> Any:
    log = with_store_log(func, room)
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    given = log.arguments(given, first)
    interpret(log.func, *given)
    return given, log.entries([each for each in given if isinstance(each, np.ndarray)])


def test_a_long_run_is_logged_in_parts() -> None:
    text = "def f(A: f32[4000], C: f32[4000]):\n    for i in serial(0, 4000):\n"
    text += "        C[i] = A[i] + (f32(1.0) if i == 3777 else f32(0.0))\n"
    func = DEFAULT.run(parse(text))
    inputs, _ = inputs_of(func, CheckOptions(samples=1))
    reference = target_executor("interpreter")
    wrong = of_constant(1.0, 2.0)
    line = first_line(
        func, inputs[0], reference, wrong, reference,
        lambda _f, _i, one, two: list(map(compare, one, two)), room=1500,
    )  # fmt: skip
    assert line is not None
    assert (line.entry, line.place) == (3777, 3777)


@needs_cc
def test_a_call_that_crashes_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    funcs = [
        parse(f"def g(A: f32[4]):\n    for i in serial(0, 4):\n        A[i] = f32({n}.0)\n")
        for n in range(3)
    ]
    emit = compiled.emit_c
    monkeypatch.setattr(
        compiled, "emit_c", lambda f, t: emit(f, t).replace("= 1.0f", "= *(volatile float *)8")
    )
    calls = [TargetCall(func, [np.zeros(4, "f4")]) for func in funcs]
    found = target_executor("c").run(calls)
    assert [each.end for each in found] == ["ran", "failed", "ran"]
    assert "SIGSEGV" in found[1].message
    assert found[2].arrays[0].tolist() == [2.0] * 4


def test_a_write_beside_an_array_is_found() -> None:
    func = parse("def f(A: f32[3], C: f32[3]):\n    C[0] = A[0]\n")
    image = call_image(func, [np.zeros(3, "f4"), np.ones(3, "f4")])
    assert [each.tolist() for each in image.arrays(image.memory)] == [[0.0] * 3, [1.0] * 3]
    for at, said in ((ALIGN - 1, "1 bytes beside 'A'"), (image.places[1].offset + 13, "'C'")):
        memory = bytearray(image.memory)
        memory[at] = 0
        with pytest.raises(IRKitError, match=said):
            image.arrays(bytes(memory))


def test_numbers_and_strides_reach_the_program() -> None:
    func = parse(
        "def f(A: buffer(f32[n, 3], strides=(s, 1)), x: f16, k: i64, C: f32[n]):\n"
        "    for i in serial(0, n):\n        C[i] = A[i, 2] + f32(x) + f32(k)\n"
    )
    args = arguments(func, seed=1)
    wanted = target_executor("interpreter").run([TargetCall(func, args)])[0]
    for name in ("host", *(["c"] if shutil.which("cc") else [])):
        found = target_executor(name).run([TargetCall(func, args)])[0]
        assert found.end == "ran", found.message
        np.testing.assert_array_equal(found.arrays[1], wanted.arrays[1])


def test_assertions_stop_on_every_target_and_refusals_are_no_failures() -> None:
    func = parse('def f(A: f32[2]):\n    assert A[0] > f32(9.0), "small"\n    A[1] = f32(1.0)\n')
    call = TargetCall(func, [np.zeros(2, "f4")])
    assert target_executor("interpreter").run([call])[0].end == "stopped"
    assert target_executor("host").run([call])[0].end == "stopped"
    refused = target_executor("host", _refuse).run([call])[0]
    assert (refused.end, refused.message) == ("refused", "not here")


def _refuse(func: PrimFunc, target: Target) -> PrimFunc:
    raise IRKitError("not here")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("apple-m2", "nothing on this machine runs"),
        ("h100", "nothing on this machine runs"),
        ("host@gcc", "names a tool after @"),
        ("opencl@gcc", "by the first device, or by oclgrind"),
        ("hots", "Did you mean 'host'"),
    ],
)
def test_what_cannot_run_is_refused_with_what_can(name: str, said: str) -> None:
    with pytest.raises(IRKitError) as caught:
        target_executor(name)
    assert said in str(caught.value)


def test_what_is_missing_says_how_to_install_it() -> None:
    assert target_executor("c@no-such-cc").missing.endswith("apt install no-such-cc")
    assert "riscv" in target_executor("c@riscv64-linux-gnu-none").missing


ZEROS = {
    "max": "max(A[i], B[i])",
    "min": "min(A[i], B[i])",
    "seen": "f32(1.0) / max(A[i], B[i])",
    "rounded": "max(A[i], B[i]) * f32(0.1) + B[i] * f32(0.0)",
}
"""Expressions whose zeros have either sign, by what two targets make of them."""
SIGNED = np.array([0.0, -0.0, 0.0, -0.0], "f4"), np.array([-0.0, 0.0, 0.0, -0.0], "f4")


def of_zeros(values: Iterable[str], first: Any, second: Any, *, contract: bool) -> TargetVerdict:
    stored = [f"        C[{at}, i] = {value}\n" for at, value in enumerate(values)]
    func = parse(
        f"def f(A: f32[4], B: f32[4], C: f32[{len(stored)}, 4]):\n"
        f"    for i in serial(0, 4):\n{''.join(stored)}"
    )
    worker = NativeWorker(60)
    try:
        compared = TargetComparison(
            first, second, target_executor("interpreter"), worker, contract=contract,
            max_steps=100_000,
        )  # fmt: skip
        args = *SIGNED, np.zeros((len(stored), 4), "f4")
        return compared.verdict(DEFAULT.run(func), [InputSet("zeros", "given", args)])
    finally:
        worker.close()


def turned(node: Min | Max) -> Min | Max:
    """Take the other operand of two zeros."""
    return node.replace(a=node.b, b=node.a)


def with_other_zeros(func: PrimFunc) -> PrimFunc:
    return rewrite(func, turned, on=(Min, Max))


@pytest.mark.parametrize("value", ZEROS.values(), ids=ZEROS)
def test_either_target_may_have_either_zero_of_a_min_or_max(value: str) -> None:
    interpreter, other = target_executor("interpreter"), Changed(with_other_zeros)
    for first, second in ((interpreter, other), (other, interpreter)):
        found = of_zeros([value], first, second, contract=True)
        assert found.status in ("same", "rounds differently"), str(found)


def test_without_contraction_both_targets_have_the_second_zero() -> None:
    interpreter, other = target_executor("interpreter"), Changed(with_other_zeros)
    found = of_zeros([ZEROS["max"]], interpreter, other, contract=False)
    assert (found.status, found.right) == ("differs", "interpreter")


@pytest.mark.parametrize(
    "value",
    ["A[i] * f32(0.1)", "A[i] / f32(3.0)", "sin(A[i])", "max(A[i], f32(1.0)) * A[i]"],
)
def test_the_sign_of_another_zero_is_a_difference(value: str) -> None:
    def negative(load: Load) -> Expr | None:
        return -load if load.buffer.name == "A" else None

    def negate(func: PrimFunc) -> PrimFunc:
        return rewrite(func, negative, on=Load)

    found = of_zeros([value], target_executor("interpreter"), Changed(negate), contract=True)
    assert (found.status, found.right) == ("differs", "interpreter"), str(found)
    assert found.line is not None


@pytest.mark.parametrize("other", ["host", "c", "opencl"])
@pytest.mark.parametrize("contract", [True, False])
def test_targets_agree_on_minima_and_maxima_of_zeros(other: str, contract: bool) -> None:
    executor = target_executor(other)
    if executor.missing or (other == "c" and shutil.which("cc") is None):
        pytest.skip(executor.missing or "no C compiler: apt install gcc")
    found = of_zeros(ZEROS.values(), target_executor("interpreter"), executor, contract=contract)
    assert found.status in ("same", "rounds differently"), str(found)
