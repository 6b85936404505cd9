"""Devices with threads: CUDA C on this processor, PTX by ptxas, SPIR-V by spirv-val, and races and
bounds by oclgrind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError
from irkit.fuzz import arguments
from irkit.ir import I32, For, PrimFunc, Var, const, interpret
from tests.codegen.c.test_c_source import drawn as drawn_functions
from tests.codegen.device.programs import (
    PROGRAMS,
    SOFTMAX,
    assert_equal,
    drawn,
    expected,
    product,
)
from tests.codegen.device.warp_programs import warp_product
from tests.targets.card import NVRTC, PTXAS, by_nvrtc
from tests.targets.cuda_on_cpu import run_cuda

pytestmark = pytest.mark.long
EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "20"))
programs = pytest.mark.parametrize("func", PROGRAMS, ids=lambda func: func.name)
LARGE = product(1024, 1024, 1024, tile=64, own=4, step=16)
ICD = Path("/usr/lib/oclgrind")


needs_ptxas = pytest.mark.skipif(
    not PTXAS, reason="there is no ptxas: pip install nvidia-cuda-nvcc-cu12"
)
needs_nvrtc = pytest.mark.skipif(
    not NVRTC, reason="there is no NVRTC: pip install nvidia-cuda-nvrtc-cu12"
)
architectures = pytest.mark.parametrize("arch", ["sm_80", "sm_90"])


def assembled(ptx: str, arch: str, folder: Path) -> str:
    """Assemble PTX, and return what ptxas says of registers and memory."""
    file = folder / "kernels.ptx"
    file.write_text(ptx)
    os.chmod(PTXAS, 0o755)
    command = [PTXAS, "-v", f"-arch={arch}", "-o", str(folder / "kernels.cubin"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


@needs_ptxas
@architectures
def test_ptx_of_a_large_tiled_product_is_assembled_without_a_spill(
    arch: str, tmp_path: Path
) -> None:
    kernel = irkit.build(LARGE, target=f"cuda -arch={arch}")
    said = assembled(kernel.source("ptx"), arch, tmp_path)
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    assert "8192 bytes smem" in said


@needs_ptxas
@architectures
@programs
def test_ptx_of_every_program_is_assembled(func: PrimFunc, arch: str, tmp_path: Path) -> None:
    kernel = irkit.build(func, target=f"cuda -arch={arch}")
    assert "0 bytes spill stores" in assembled(kernel.source("ptx"), arch, tmp_path)


@needs_ptxas
@needs_nvrtc
@architectures
@pytest.mark.parametrize("func", [*PROGRAMS, LARGE], ids=lambda func: func.name)
def test_cuda_c_is_compiled_and_assembled(func: PrimFunc, arch: str, tmp_path: Path) -> None:
    kernel = irkit.build(func, target=f"cuda -arch={arch}")
    said = assembled(by_nvrtc(kernel.source(), arch), arch, tmp_path)
    assert "0 bytes spill stores" in said


@needs_nvrtc
def test_random_programs_are_compiled_by_nvrtc() -> None:
    compiled = 0
    for func in drawn_functions(EXAMPLES, 8):
        try:
            source = irkit.build(threaded(func), target="h100").source()
        except IRKitError as error:
            if not any(words in str(error) for words in REFUSED):
                raise
            continue
        by_nvrtc(source, "sm_90")
        compiled += 1
    assert compiled * 2 >= EXAMPLES


@needs_ptxas
@needs_nvrtc
@architectures
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_product_by_tensor_cores_is_assembled_without_a_spill(
    kind: str, arch: str, tmp_path: Path
) -> None:
    func = warp_product(256, 256, 256, warps=(2, 2), kind=kind)
    kernel = irkit.build(func, target=f"cuda -arch={arch}")
    ptx = kernel.source("ptx")
    assert ptx.count("mma.sync.aligned.m16n8k16") == 64
    assert "ld.shared.v4.b32" in ptx
    assert "0 bytes spill stores" in assembled(ptx, arch, tmp_path)
    assert by_nvrtc(kernel.source(), arch).count("mma.sync.aligned.m16n8k16") == 64


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt install g++")
@programs
def test_cuda_c_computes_what_the_interpreter_computes(func: PrimFunc, tmp_path: Path) -> None:
    args = drawn(func)
    found = run_cuda(irkit.build(func, target="cuda"), args, tmp_path)
    assert_equal(func, found, expected(func, args), ulps=4 if func is SOFTMAX else 0)


@pytest.mark.skipif(shutil.which("spirv-val") is None, reason="apt install spirv-tools")
@programs
def test_spirv_is_valid(func: PrimFunc, tmp_path: Path) -> None:
    (data,) = irkit.build(func, target="opencl").object_files()
    (tmp_path / "kernels.spv").write_bytes(data)
    command = ["spirv-val", "--target-env", "opencl2.2", str(tmp_path / "kernels.spv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


_ONE = """
import sys
import irkit
from tests.codegen.device.programs import PROGRAMS, assert_equal, drawn, expected
for func in PROGRAMS:
    args = drawn(func)
    made = [arg.copy() if hasattr(arg, "copy") else arg for arg in args]
    irkit.build(func, target="opencl")(*made)
    assert_equal(func, made, expected(func, args), ulps=4)
    print(func.name, "done")
"""
_RACE = """
import numpy as np
import irkit
from irkit.ir import parse
func = parse('''{text}''')
irkit.build(func, target="opencl")(np.zeros(8, "f4"), np.zeros(8, "f4"))
"""


def by_oclgrind(program: str) -> str:
    command = ["oclgrind", "--data-races", sys.executable, "-c", program]
    env = {**os.environ, "OCL_ICD_VENDORS": str(ICD), "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=env
    )
    return done.stdout + done.stderr


needs_oclgrind = pytest.mark.skipif(
    shutil.which("oclgrind") is None or find_spec("pyopencl") is None,
    reason="apt install oclgrind, pip install pyopencl",
)


@needs_oclgrind
def test_oclgrind_finds_no_race_and_nothing_out_of_bounds() -> None:
    said = by_oclgrind(_ONE)
    assert said.split() == [word for func in PROGRAMS for word in (func.name, "done")], said[:3000]


@needs_oclgrind
def test_oclgrind_finds_the_race_of_blocks_that_meet() -> None:
    text = (
        "def f(A: f32[8], C: f32[8]):\n"
        '    for b in thread(0, 4, "blockIdx.x"):\n'
        '        for t in thread(0, 2, "threadIdx.x"):\n'
        "            C[t] = A[b * 2 + t]\n            A[b * 2 + t] = C[1 - t]\n"
    )
    assert "data race" in by_oclgrind(_RACE.format(text=text))


# What a kernel cannot hold, although a function can.
REFUSED = ("an assertion", "must have constant size", "is in no thread loop", "bound to")


def threaded(func: PrimFunc) -> PrimFunc:
    """Return a function whose body is one thread, so that a kernel has all of it."""
    loop = For(Var("only", I32), const(0, I32), const(1, I32), func.body, "thread", "threadIdx.x")
    return func.replace(body=loop, attrs=(("contract", False),))


def launched(func: PrimFunc, run: Callable[[PrimFunc, list[Any]], list[Any]]) -> bool:
    """Compare a run with the interpreter; return False if the function can be no launch."""
    args = arguments(func, seed=4)
    if not all(arg.flags.c_contiguous for arg in args if isinstance(arg, np.ndarray)):
        return False
    wanted = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with np.errstate(all="ignore"):
        interpret(func, *wanted)
    try:
        found = run(func, args)
    except IRKitError as error:
        if not any(words in str(error) for words in REFUSED):
            raise
        return False
    assert_equal(func, found, wanted)
    return True


def on_opencl(func: PrimFunc, args: list[Any]) -> list[Any]:
    irkit.build(func, target="pocl")(*args)
    return args


@pytest.mark.skipif(find_spec("pyopencl") is None, reason="pip install pyopencl")
def test_random_programs_as_one_thread_in_opencl() -> None:
    ran = [launched(threaded(func), on_opencl) for func in drawn_functions(EXAMPLES, 6)]
    assert sum(ran) * 2 >= len(ran)


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt install g++")
def test_random_programs_as_one_thread_in_cuda_c(tmp_path: Path) -> None:
    def on_cuda(func: PrimFunc, args: list[Any]) -> list[Any]:
        return run_cuda(irkit.build(func, target="cuda"), args, tmp_path)

    ran = [launched(threaded(func), on_cuda) for func in drawn_functions(EXAMPLES, 7)]
    assert sum(ran) * 2 >= len(ran)
