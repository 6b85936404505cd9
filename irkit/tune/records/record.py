"""One candidate of a search, and the task that it belongs to, as lines of a file."""

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

import msgspec

from irkit.autoschedule import Machine
from irkit.codegen import EMITTER_VERSION, complete_target
from irkit.core import Target
from irkit.tune.machine_table import fingerprint, machine_here

SCHEMA = 1
LEAST_GAIN = 1.02
"""How many times faster a winner is at least: less changes with where code and arrays lie."""
Values = dict[str, Any]
"""The decisions of a candidate: plain data by the names of the knobs."""
VerdictKind = Literal[
    "ok",
    "wrong",
    "nan",
    "out of bounds",
    "crash",
    "time-out",
    "memory",
    "refused",
    "build error",
    "skipped",
]
"""``refused``: a primitive says why the schedule is not legal. ``skipped``: it was not measured."""
Stage = Literal["search", "final"]


class Built(msgspec.Struct, frozen=True):
    """How a candidate was compiled. ``counts`` are instructions of the hottest loop of its assembly
    by kind, if they were counted, and ``mix`` is the version of the kinds (0: of older records).

    Units: ``ms`` is milliseconds of the worker.
    """

    ok: bool = False
    ms: float = 0.0
    opt_level: int = 1
    counts: dict[str, float] = {}
    mix: int = 0


class Measured(msgspec.Struct, frozen=True):
    """Times of a candidate beside those of the schedule that reigned, in turn.

    Units: seconds of one call. ``ratio`` is how many times faster the candidate is, from ``low`` to
    ``high`` with 95 % confidence; ``noise`` is by how much the reigning schedule differs from
    itself; ``load`` is that of the machine before.
    """

    seconds: float
    reference: float
    ratio: float
    low: float
    high: float
    pairs: int
    noise: float = 0.0
    threads: int = 1
    flushed: bool = False
    load: float = 0.0

    @property
    def best_ratio(self) -> float:
        """How many times faster the candidate is by the shortest times: of few samples these are
        nearer to what many would tell than the median of ratios."""
        return self.reference / self.seconds if self.seconds > 0 else self.ratio


class CandidateOrigin(msgspec.Struct, frozen=True):
    """Where a candidate comes from: the run and its seed, and how the search made it.

    ``predicted`` is the time in seconds that the cost model expected, in no unit before anything
    was measured.
    """

    run: str = ""
    seed: int = 0
    trial: int = 0
    origin: str = ""
    parent: str = ""
    predicted: float | None = None


class MachineHere(msgspec.Struct, frozen=True):
    """The machine of a measurement. Units: bytes; GFLOP/s of one core, 0 if unknown."""

    fingerprint: str
    cores: int
    l1: int
    l2: int
    l3: int
    roof: float = 0.0


class TaskLine(msgspec.Struct, frozen=True, tag="task", tag_field="kind"):
    """A task: the loops that were tuned as text, so that records can be replayed without its
    source. ``where`` is the file and name of its template; ``weight`` its share of a model's
    time."""

    schema: int
    hash: str
    name: str
    flop: int
    loops: str
    template: str = ""
    args: tuple[Any, ...] = ()
    where: str = ""
    weight: float = 1.0


class Record(msgspec.Struct, frozen=True, tag="candidate", tag_field="kind"):
    """A candidate of a task. ``score`` is how many times faster than the default it is.

    ``trace`` has the steps of its schedule, for finalists. A ``final`` record is about code
    compiled in full that raced the default itself.
    """

    schema: int
    id: str
    task: str
    name: str
    space: str
    values: Values
    stage: Stage
    target: dict[str, Any]
    machine: MachineHere
    toolchain: dict[str, str]
    verdict: VerdictKind
    build: Built = Built()
    checked: str = ""
    message: str = ""
    measure: Measured | None = None
    score: float = 0.0
    search: CandidateOrigin = CandidateOrigin()
    time: float = 0.0
    worker: str = ""
    trace: dict[str, Any] | None = None

    @property
    def wins(self) -> bool:
        """True if it was right, and beat the default by more than noise, in the last race."""
        found = self.measure
        return (
            self.stage == "final"
            and self.verdict == "ok"
            and found is not None
            and found.low > LEAST_GAIN
        )


def key_of(values: Mapping[str, Any]) -> str:
    """Return decisions as text, the same whatever their order is."""
    return msgspec.json.encode(dict(values), order="sorted").decode()


def record_id(task: str, space: str, values: Mapping[str, Any], stage: str = "search") -> str:
    """Return the name of a candidate: the same decisions about the same task have the same one."""
    text = "\n".join((task, space, key_of(values), stage))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def toolchain() -> dict[str, str]:
    """Return the versions that code depends on."""
    return {"llvmlite": version("llvmlite"), "emitter": str(EMITTER_VERSION)}


@cache
def machine_now(cores: int) -> MachineHere:
    """Return what is known of this machine."""
    target = complete_target(Target())
    machine = machine_here(target)
    return MachineHere(
        fingerprint(), cores, machine.l1, machine.l2, machine.l3, roof_of(machine, _gigahertz())
    )


def roof_of(machine: Machine, gigahertz: float) -> float:
    """Return the GFLOP/s of f32 that one core can reach; 0 if its clock is unknown."""
    return machine.vector_bytes / 4 * 2 * machine.multiplied * gigahertz


def _gigahertz() -> float:
    if platform.system() != "Linux":
        return 0.0
    try:
        with open("/proc/cpuinfo") as file:
            speeds = [float(line.split(":")[1]) for line in file if line.startswith("cpu MHz")]
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(speeds, default=0.0) / 1e3


def plain_target(target: Target) -> dict[str, Any]:
    """Return a complete target as a record has it, without the level of optimisation."""
    whole = complete_target(target)
    return {"kind": whole.kind, "cpu": whole.cpu, "triple": whole.triple}
