"""A folder with a test of each kernel of a model."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from irkit.core import UniqueNames, atomic_write
from irkit.debug.split.kernel_cases import KernelCase
from irkit.debug.split.kernel_check import INPUTS, KERNEL, OUTPUTS
from irkit.runtime import write_arrays

TEST = "test_kernels.py"
_TEXT = '''\
"""Numeric tests of the kernels of {title}, one for each.

Made by `irkit split`; run them with `python -m pytest`. Each folder has the IR of a kernel, what a
run of the model gave it, and what NumPy computed from that. `check_kernel` says what may differ.
"""

from pathlib import Path

import pytest

import irkit
from irkit.debug import check_kernel

HERE = Path(__file__).parent
KERNELS = {kernels}


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel(kernel: str) -> None:
    check_kernel(HERE / kernel, irkit.build)
'''


def write_kernel_tests(folder: Path, cases: Iterable[KernelCase], title: str) -> dict[str, str]:
    """Write a folder for each kernel, and the test of all; return the name of each folder.

    The test is written last: it is there only if all is complete.
    """
    unique, names = UniqueNames(), dict[str, str]()
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        name = names[case.name] = unique(re.sub(r"\W", "_", case.name, flags=re.ASCII) or "kernel")
        (folder / name).mkdir(exist_ok=True)
        with atomic_write(folder / name / KERNEL) as made:
            made.write_text(case.text, encoding="utf-8")
        write_arrays(folder / name / INPUTS, case.inputs)
        write_arrays(folder / name / OUTPUTS, case.outputs)
    listed = "".join(f"    {json.dumps(name)},\n" for name in names.values())
    shown = title.replace("\\", "/").replace('"', "'")
    with atomic_write(folder / TEST) as made:
        text = _TEXT.format(title=shown, kernels=f"[\n{listed}]" if listed else "[]")
        made.write_text(text, encoding="utf-8")
    return names
