"""The subsystems: a row for each kind, with its check and what it needs on this machine."""

import shutil
from collections.abc import Callable, Iterable
from importlib.util import find_spec

import msgspec

from irkit.fuzz.generators.onnx_models.suite_cases import suite_cases
from irkit.fuzz.generators.sample import Kind, Numbered, Sample, SubsystemKind, Unusable
from irkit.fuzz.judge.progress import TierProgress
from irkit.fuzz.judge.subsystems.attention_orders import attention_agrees
from irkit.fuzz.judge.subsystems.block_orders import block_orders_agree
from irkit.fuzz.judge.subsystems.c_source import c_agrees
from irkit.fuzz.judge.subsystems.device_programs import devices_agree
from irkit.fuzz.judge.subsystems.equal_work import work_is_equal
from irkit.fuzz.judge.subsystems.gradients import gradients_agree
from irkit.fuzz.judge.subsystems.torch_programs import prepare_torch, torch_agrees
from irkit.fuzz.judge.subsystems.tune_records import records_read_back
from irkit.fuzz.judge.subsystems.wrong_calls import calls_are_refused
from irkit.fuzz.picks import Picks

Check = Callable[[Picks], None]


class Subsystem(msgspec.Struct, frozen=True):
    """A check, the package of Python and the program that it needs, and where they come from.

    ``prepare`` does what takes seconds once in a process.
    """

    check: Check
    package: str = ""
    program: str = ""
    remedy: str = ""
    prepare: Callable[[], object] = lambda: None

    @property
    def missing(self) -> str:
        """Return what is not installed, and the remedy; empty if nothing is missing."""
        if self.package and find_spec(self.package) is None:
            return f"{self.package} is not installed: {self.remedy}"
        if self.program and shutil.which(self.program) is None:
            return f"{self.program} is not installed: {self.remedy}"
        return ""


SUBSYSTEMS: dict[SubsystemKind, Subsystem] = {
    "c": Subsystem(c_agrees, program="gcc", remedy="apt install gcc"),
    "work": Subsystem(work_is_equal),
    "devices": Subsystem(devices_agree, package="pyopencl", remedy="pip install 'irkit[opencl]'"),
    "records": Subsystem(records_read_back),
    "attention": Subsystem(attention_agrees),
    "takes": Subsystem(block_orders_agree),
    "gradients": Subsystem(gradients_agree),
    "torch": Subsystem(
        torch_agrees, package="torch", remedy="pip install 'irkit[torch]'", prepare=prepare_torch
    ),
    "calls": Subsystem(calls_are_refused),
}


def missing_for(kind: Kind) -> str:
    """Return what a kind of cases needs and this machine lacks; empty if nothing is missing."""
    row = SUBSYSTEMS.get(kind)  # pyright: ignore[reportArgumentType] -- programs have no row
    return "" if row is None else row.missing


def prepare_kinds(kinds: Iterable[Kind]) -> None:
    """Do what takes seconds once in a process, for cases of some kinds."""
    for kind in kinds:
        if kind == "onnx":
            suite_cases()
        row = SUBSYSTEMS.get(kind)  # pyright: ignore[reportArgumentType] -- programs have no row
        if row is not None and not row.missing:
            row.prepare()


def judge_subsystem(sample: Sample, progress: TierProgress) -> None:
    """Run the check of a sample's subsystem.

    Raises: WrongSample; Unusable if something that it needs is not installed.
    """
    assert isinstance(sample.ir, Numbered)
    missing = missing_for(sample.kind)
    if missing:
        raise Unusable(missing)
    row = SUBSYSTEMS[sample.kind]  # pyright: ignore[reportArgumentType] -- it has numbers
    with progress.running(sample.kind):
        row.check(sample.ir.picks)
