"""CUDA C on this processor: a C++ compiler builds the kernels beside definitions of CUDA's words.

The threads of a block are threads of the system that meet at barriers; blocks run one after the
other, so shared memory is static. It computes what a card computes without contraction.
"""

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from irkit.codegen.c.types import memory_type
from irkit.core import Target
from irkit.ir import Buffer
from irkit.runtime import DeviceKernel
from irkit.runtime.device.driver import Driver

FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-pthread")
_WORDS = """\
#include <cmath>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <vector>
struct irkit_dim3 { unsigned x, y, z; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
static thread_local irkit_dim3 threadIdx, blockIdx;
static pthread_barrier_t irkit_gate;
#define __global__
#define __device__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(n)
#define __syncthreads() pthread_barrier_wait(&irkit_gate)
static inline unsigned __float_as_uint(float x) { unsigned y; memcpy(&y, &x, 4); return y; }
static inline float __uint_as_float(unsigned x) { float y; memcpy(&y, &x, 4); return y; }
static inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
static inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
"""
_RUN = """
extern "C" void run_{name}(const unsigned *sizes, void **at) {{
    const unsigned count = sizes[3] * sizes[4] * sizes[5];
    pthread_barrier_init(&irkit_gate, nullptr, count);
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < count; ++number) threads.emplace_back([=] {{
        const unsigned row = number / sizes[3];
        threadIdx = {{number % sizes[3], row % sizes[4], row / sizes[4]}};
        for (unsigned z = 0; z < sizes[2]; ++z)
            for (unsigned y = 0; y < sizes[1]; ++y)
                for (unsigned x = 0; x < sizes[0]; ++x) {{
                    blockIdx = {{x, y, z}};
                    {name}({args});
                    __syncthreads();
                }}
    }});
    for (std::thread &each : threads) each.join();
    pthread_barrier_destroy(&irkit_gate);
}}
"""


class CUDAOnCPU(Driver):
    """The kernels of a CUDA target, built for this processor."""

    def __init__(self, kernel: DeviceKernel, folder: Path) -> None:
        parts = [_WORDS, kernel.source("cuda")]
        for launch in kernel.launches:
            args = [
                f"({memory_type(p.dtype)} *)at[{place}]"
                if isinstance(p, Buffer)
                else f"*({memory_type(p.dtype)} *)at[{place}]"
                for place, p in enumerate(launch.kernel.params)
            ]
            parts.append(_RUN.format(name=launch.kernel.name, args=", ".join(args)))
        source, library = folder / f"{kernel.name}.cpp", folder / f"{kernel.name}.so"
        source.write_text("\n".join(parts))
        command = ["g++", *FLAGS, "-o", str(library), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[:4000]
        self.library = ctypes.CDLL(str(library))

    def allocate(self, size: int) -> Any:
        return (ctypes.c_char * max(size, 1))()

    def upload(self, data: memoryview) -> Any:
        made = self.allocate(data.nbytes)
        ctypes.memmove(made, bytes(data), data.nbytes)
        return made

    def download(self, memory: Any, data: memoryview) -> None:
        data[:] = memoryview(memory).cast("B")[: data.nbytes]

    def free(self, memory: Any) -> None:
        pass

    def launch(self, kernel: str, grid: Any, block: Any, args: Any) -> None:
        held = [
            arg
            if isinstance(arg, ctypes.Array)
            else (ctypes.c_char * arg.nbytes).from_buffer_copy(arg.tobytes())
            for arg in args
        ]
        places = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(x) for x in held))
        self.library[f"run_{kernel}"]((ctypes.c_uint * 6)(*grid, *block), places)


def run_cuda(kernel: DeviceKernel, args: list[Any], folder: Path) -> list[Any]:
    """Call a kernel of a CUDA target on this processor, and return its arguments afterwards."""
    assert kernel.target.kind == Target("cuda").kind
    made = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel._driver = CUDAOnCPU(kernel, folder)
    kernel(*made)
    return made
