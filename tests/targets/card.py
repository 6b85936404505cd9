"""The CUDA device of this machine, and kernels that are run on it from either text."""

import ctypes
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import irkit
from irkit.ir import PrimFunc
from irkit.runtime import DeviceKernel, has_cuda
from irkit.runtime.device.cuda import CUDA

# One reason for all, so that a summary of skipped tests has one line.
needs_card = [
    pytest.mark.cuda,
    pytest.mark.skipif(not has_cuda(), reason="there is no CUDA device here"),
]
TEXTS = ("ptx", "cuda")
"""What runs: PTX that LLVM writes, or CUDA C that NVRTC compiles."""


def in_wheels(*patterns: str) -> str:
    """Return a file of NVIDIA's wheels, or nothing."""
    spec = find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    found = (str(p) for folder in folders for each in patterns for p in Path(folder).glob(each))
    return next(found, "")


PTXAS = in_wheels("cuda_nvcc/bin/ptxas", "cu1*/bin/ptxas") or shutil.which("ptxas") or ""
NVRTC = in_wheels("cuda_nvrtc/lib/libnvrtc.so.*", "cu1*/lib/libnvrtc.so.*")


def by_nvrtc(source: str, arch: str) -> str:
    """Compile CUDA C to PTX by NVRTC, which needs no device."""
    library = ctypes.CDLL(NVRTC)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    create = library.nvrtcCreateProgram
    assert create(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None) == 0
    options = [f"--gpu-architecture=compute_{arch[3:]}".encode(), b"--fmad=false"]
    given = (ctypes.c_char_p * len(options))(*options)
    status = library.nvrtcCompileProgram(program, len(options), given)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, made)
    return made.value.decode()


def on_card(func: PrimFunc, text: str = "ptx", target: str = "h100") -> DeviceKernel:
    """Return a kernel for the device of this machine."""
    kernel = irkit.build(func, target=target)
    assert isinstance(kernel, DeviceKernel)
    if text == "cuda":
        kernel._driver = CUDA(by_nvrtc(kernel.source(), kernel.target.cpu), shared=kernel.shared)
    return kernel
