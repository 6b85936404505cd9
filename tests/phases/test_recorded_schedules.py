from pathlib import Path

import msgspec
import numpy as np
import pytest

import irkit
from irkit.core import Target
from irkit.ir import PrimFunc
from irkit.phases import lowering_trace
from irkit.tune import RecordFile, chosen_schedules, fingerprint, task
from irkit.tune.records import SCHEMA, MachineHere, Measured, Record, record_id
from tests.phases.candidates.test_model_tasks import TEXT
from tests.tune.programs import product

WIDE = {
    "C.sketch": "tile", "C.fused": 0, "C.lanes": 8, "C.vectors": 1, "C.row": 0, "C.rows": 2,
    "C.order": 0, "C.unroll": 2,
}  # fmt: skip


def write(path: Path, func: PrimFunc, *, machine: str = "", block: str = "C") -> str:
    """Write records in which one schedule of a function won; return its steps."""
    found = task(func)
    values = {key.replace("C.", f"{block}."): each for key, each in WIDE.items()}
    steps = found.space.derive(values).trace.without_where().as_json()
    machine_here = MachineHere(machine or fingerprint(), 1, 1, 1, 1)
    with RecordFile(path) as file:
        file.append(found.line())
        for low in (1.8, 1.9):  # It won both of its races.
            file.append(
                Record(
                    SCHEMA, record_id(found.hash, "rules", values, "final"), found.hash, func.name,
                    "rules", values, "final", {}, machine_here, {}, "ok",
                    measure=Measured(1e-3, 2e-3, 2.0, low, 2.1, 20), score=2.0,
                    trace=msgspec.json.decode(steps),
                )
            )  # fmt: skip
    return steps


def test_what_won_is_applied_and_code_is_the_same_each_time(tmp_path: Path) -> None:
    func = product(48, 64, 32)
    write(tmp_path / "r", func)
    tuned = irkit.build(func, records=tmp_path / "r")
    again = irkit.build(func, records=str(tmp_path / "r"))
    default = irkit.build(func)
    assert tuned.source() == again.source() != default.source()
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (48, 32)), rng.integers(-4, 5, (32, 64))
    c = np.full((48, 64), np.nan, np.float32)
    tuned(a.astype(np.float32), b.astype(np.float32), c)
    assert np.array_equal(c, a @ b)


def test_other_functions_get_what_they_get_without_records(tmp_path: Path) -> None:
    write(tmp_path / "r", product(48, 64, 32))
    other = product(48, 64, 40)
    assert irkit.build(other, records=tmp_path / "r").source() == irkit.build(other).source()


def test_what_won_on_another_machine_needs_a_word(tmp_path: Path) -> None:
    func = product(48, 64, 32)
    write(tmp_path / "r", func, machine="other")
    with pytest.warns(UserWarning, match="another machine"):
        default = irkit.build(func, records=tmp_path / "r")
    assert default.source() == irkit.build(func).source()
    foreign = irkit.build(func, records=tmp_path / "r", foreign_records=True)
    assert foreign.source() != default.source()


def test_steps_that_are_not_legal_leave_the_default(tmp_path: Path) -> None:
    func = product(48, 64, 32)
    write(tmp_path / "r", func)
    text = (tmp_path / "r").read_text().replace('"primitive":"vectorize"', '"primitive":"bind"')
    (tmp_path / "r").write_text(text)
    assert irkit.build(func, records=tmp_path / "r").source() == irkit.build(func).source()


def test_kernels_of_a_model_are_looked_up_by_their_loops(tmp_path: Path) -> None:
    from irkit.graph import parse_module
    from irkit.phases import model_tasks

    module = parse_module(TEXT)
    first = model_tasks(module)[0]
    (group,) = first.space.groups({})
    write(tmp_path / "r", first.func, block=group.name)
    tuned = irkit.compile(module, records=tmp_path / "r")
    again = irkit.compile(module, records=tmp_path / "r")
    assert [step.after for step in tuned.trace if step.name == "auto-schedule"]
    default = irkit.compile(module)
    assert tuned.contents.objects == again.contents.objects != default.contents.objects
    x, w = np.random.default_rng(0).random((2, 64, 64), dtype=np.float32)
    np.testing.assert_allclose(
        tuned.run({"x": x, "w": w})["d"], default.run({"x": x, "w": w})["d"], rtol=1e-4
    )


def test_a_record_opens_as_a_trace(tmp_path: Path) -> None:
    func = product(48, 64, 32)
    steps = write(tmp_path / "r", func)
    made = lowering_trace(func, steps)
    assert made.steps[0].name == "auto-schedule"
    assert made.steps[0].after is not made.steps[0].before


def test_records_of_this_machine_fit_its_own_target_only(tmp_path: Path) -> None:
    write(tmp_path / "r", product(48, 64, 32))
    assert chosen_schedules(tmp_path / "r", Target()).traces
    other = Target(cpu="x86-64")
    assert not chosen_schedules(tmp_path / "r", other).traces
