"""Split a model into its kernels: a numeric unit test for each.

Reading order: kernel_cases (each kernel with what a run of the model gives it), kernel_check
(native code of a kernel against the results that are expected), test_folder (the files).
"""

from irkit.debug.split.kernel_cases import (
    KernelCase as KernelCase,
    kernel_cases as kernel_cases,
)
from irkit.debug.split.kernel_check import (
    check_kernel as check_kernel,
)
from irkit.debug.split.test_folder import (
    write_kernel_tests as write_kernel_tests,
)
