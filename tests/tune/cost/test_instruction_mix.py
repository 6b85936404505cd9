import pytest

from irkit.codegen import assembly, complete_target, emit
from irkit.core import Target
from irkit.phases.candidates import lower_candidate
from irkit.tune import task
from irkit.tune.cost import instruction_mix, mix_row
from irkit.tune.cost.instruction_mix import cycles_of_element
from tests.tune.programs import product

NEST = """
kernel:
	pushq	%rbx
	movq	%rdi, 8(%rsp)
.LBB0_1:
	xorl	%eax, %eax
	vxorps	%xmm0, %xmm0, %xmm0
.LBB0_2:
	vmovups	%ymm14, -72(%rsp)
	vbroadcastss	(%rbx), %ymm3
	vmovups	32(%rsi), %ymm4
	vfmadd231ps	%ymm3, %ymm4, %ymm0
	vfmadd231ps	1024(%rsi), %ymm3, %ymm1
	vaddps	%ymm3, %ymm4, %ymm5
	vmovups	-72(%rsp), %ymm14
	vmovups	%ymm5, (%rdx,%rax,4)
	vpermilps	$1, %ymm5, %ymm6
	vmulss	%xmm3, %xmm4, %xmm7
	incl	%eax
	cmpl	$16, %eax
	jb	.LBB0_2
	callq	expf@PLT
	vmovups	%ymm0, (%rdx)
	incl	%ecx
	jb	.LBB0_1
.LBB0_4:
	vmovss	(%rdi), %xmm0
	jne	.LBB0_4
	retq
"""


def test_the_innermost_loop_with_the_most_work_is_counted() -> None:
    found = {name: count for name, count in instruction_mix(NEST).items() if count}
    assert found.pop("bytes") == pytest.approx(60, abs=15)
    assert found == {
        "fma": 2, "arithmetic": 1, "scalar arithmetic": 1, "broadcasts": 1, "shuffles": 1,
        "vector loads": 2, "vector stores": 1, "spill loads": 1, "spill stores": 1,
        "integer": 2, "branches": 1, "sums": 3, "lanes": 25, "instructions": 13,
        "loops": 2, "depth": 2, "all instructions": 24, "all spills": 3, "all calls": 1,
    }  # fmt: skip


def test_spills_and_sums_that_wait_make_an_element_slower() -> None:
    whole = instruction_mix(NEST)
    assert cycles_of_element(whole | {"spill stores": 9.0}) > 2 * cycles_of_element(whole)
    assert cycles_of_element(whole | {"sums": 1.0}) > cycles_of_element(whole | {"sums": 4.0})


def test_code_without_loops_is_counted_as_a_whole() -> None:
    found = instruction_mix("f:\n\tvaddpd\t%ymm0, %ymm1, %ymm0\n\tvmovupd\t%ymm0, (%rdi)\n\tretq\n")
    assert (found["arithmetic"], found["lanes"], found["loops"], found["depth"]) == (1, 4, 0, 0)


@pytest.mark.parametrize("text", ["", "f:\n\tfmla v0.4s, v1.4s, v2.4s\n\tret\n", "f:\nf:\n\tjmp f"])
def test_of_what_is_not_x86_nothing_is_known(text: str) -> None:
    assert instruction_mix(text) == {}
    assert mix_row({}) == []


def test_a_mix_that_lost_a_kind_has_no_features() -> None:
    mix = instruction_mix(NEST)
    assert mix_row(mix)[1:] == [0.25, 0.25, 0.5, 13.0, 24.0]
    assert mix_row({name: count for name, count in mix.items() if name != "fma"}) == []


@pytest.mark.parametrize("rows", [2, 12])
def test_what_does_not_fit_into_the_registers_is_seen(rows: int) -> None:
    target = complete_target(Target(triple="x86_64-unknown-linux-gnu", cpu="haswell", opt_level=1))
    values = {
        "C.sketch": "tile", "C.lanes": 8, "C.vectors": 2, "C.row": 0, "C.rows": rows, "C.near": -1,
        "C.lines": 1, "C.order": 0, "C.unroll": 1, "C.strip": [-1, 1], "C.block": [-1, 0],
        "C.copy": -1, "C.fuse": -1,
    }  # fmt: skip
    func = task(product(24, 32, 16)).space.derive(values).func
    mix = instruction_mix(assembly(emit([lower_candidate(func)], target), target))
    assert mix["fma"] == 2 * rows
    assert mix["lanes"] == 16 * rows
    assert (mix["spill loads"] + mix["spill stores"] > 0) is (rows == 12)
