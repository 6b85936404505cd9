"""The process that has a sample loaded: it forks for each block of cases, and for each mutant that
only an import switches on."""

import importlib
from functools import partial
from types import CodeType
from typing import Any

import msgspec

from irkit.processes import ChildDied, Limits, report, run_in_fork
from tests.mutation.schemata.instrument import how_switched
from tests.mutation.schemata.loading import (
    compile_mutant,
    compile_sample,
    import_anew,
    import_recorded,
)
from tests.mutation.schemata.messages import (
    AloneOrder,
    BlockOrder,
    BlockResult,
    Found,
    Loaded,
    SampleOrder,
)
from tests.mutation.schemata.switches import NONE, SWITCHES

_BLOCKS = "tests.mutation.schemata.blocks"
_MEMORY = 6 << 30
_QUIET = 60.0


class _Process:
    """What this process has loaded."""

    sample: SampleOrder | None = None
    codes: dict[str, CodeType] = {}


def load_sample(order: bytes) -> bytes:
    """Import irkit with a sample of mutants behind switches."""
    _Process.sample = msgspec.json.decode(order, type=SampleOrder)
    _Process.codes = compile_sample(_Process.sample.mutants)
    reached = import_recorded(_Process.codes, [f"{_BLOCKS}:judge_block"])
    return msgspec.json.encode(Loaded(tuple(sorted(reached))))


def run_block(order: bytes) -> bytes:
    """Judge a block of cases."""
    blocks: Any = importlib.import_module(_BLOCKS)
    messages: Any = importlib.import_module(BlockOrder.__module__)
    return msgspec.json.encode(
        blocks.judge_block(msgspec.json.decode(order, type=messages.BlockOrder))
    )


def run_alone(order: bytes) -> bytes:
    """Judge cases with irkit imported while one mutant is on."""
    alone = msgspec.json.decode(order, type=AloneOrder)
    result = msgspec.json.decode(_run_alone(order, alone), type=BlockResult)
    blocks: Any = importlib.import_module(_BLOCKS)
    blocks.install_recorder()
    for found in list(result.found):
        clean = blocks.outcome_in_fork(alone.seed, found.case, NONE)
        if found.tier != "import" and clean is not None and clean.is_finding:
            result.found.remove(found)
            result.dismissed.append(found)
    return msgspec.json.encode(result)


def _run_alone(order: bytes, alone: AloneOrder) -> bytes:
    limits = Limits(alone.seconds * 2 + _QUIET, _MEMORY)
    try:
        return run_in_fork(partial(_judge_alone, order, alone.mutant), limits, quiet=_QUIET)
    except ChildDied as died:
        last = BlockResult(alone.first, alone.mutant)
        if died.report:
            last = msgspec.json.decode(died.report, type=BlockResult)
        status = "hang" if died.kind == "timeout" else died.kind
        last.found.append(Found(alone.mutant, last.next, status, message=died.message))
        return msgspec.json.encode(last)


def _judge_alone(order: bytes, mutant: int) -> bytes:
    alone = msgspec.json.decode(order, type=AloneOrder)
    try:
        _import_with(mutant)
        blocks: Any = importlib.import_module(_BLOCKS)
        messages: Any = importlib.import_module(BlockOrder.__module__)
        again = msgspec.json.decode(order, type=messages.AloneOrder)
        return msgspec.json.encode(blocks.judge_alone(again, report))
    except MemoryError:
        raise
    except BaseException as error:  # A mutant can raise anything when it is imported.
        result = BlockResult(alone.first, mutant)
        said = f"{type(error).__name__}: {error}"
        result.found.append(Found(mutant, alone.first, "failed", "import", message=said))
        return msgspec.json.encode(result)


def _import_with(mutant: int) -> None:
    """Import irkit anew with one mutant on from the beginning, or with none."""
    assert _Process.sample is not None
    codes = dict(_Process.codes)
    if mutant != NONE:
        found = _Process.sample.mutants[mutant]
        if how_switched(found) == "import":
            codes[found.module] = compile_mutant(found)
    SWITCHES.active = mutant
    try:
        import_anew(codes, [f"{_BLOCKS}:judge_alone"])
    finally:
        SWITCHES.active = NONE
