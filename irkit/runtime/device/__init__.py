"""Kernels on devices with threads, where one is present: OpenCL by pyopencl, CUDA by its driver.

Reading order: driver (what a device does), opencl, cuda, host_steps (what the host does between
launches), device_kernel (source, geometry, calls).
"""

from irkit.runtime.device.cuda import (
    has_cuda as has_cuda,
)
from irkit.runtime.device.device_kernel import (
    DeviceKernel as DeviceKernel,
    build_device_kernels as build_device_kernels,
)
from irkit.runtime.device.driver import (
    NoDevice as NoDevice,
)
