"""Tables of a machine: rounded, kept whole, and read only if they can be trusted."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit.autoschedule import GENERIC, Machine, automatic_schedule
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target
from irkit.tune import (
    MEASURED,
    MachineTable,
    fingerprint,
    machine_here,
    measure_machine,
    read_table,
    table_path,
    write_table,
)
from irkit.tune.machine_table import FORMAT
from irkit.tune.measure_machine import steady
from tests.autoschedule.products.test_products import product

NOISE = st.floats(0.95, 1.05)


def table(**changed: object) -> MachineTable:
    known = {name: getattr(GENERIC, name) for name in MEASURED}
    return MachineTable(FORMAT, fingerprint(), **{**known, **changed})  # pyright: ignore[reportArgumentType] -- the fields that the test knows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("IRKIT_CACHE", raising=False)
    tmp_path.chmod(0o700)
    return tmp_path


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.fixed_dictionaries(dict.fromkeys(MEASURED, NOISE)),
    st.fixed_dictionaries({name: st.integers(-2, 2) for name in MEASURED}),
)
def test_noise_of_a_twentieth_changes_no_machine(
    noise: dict[str, float], away: dict[str, int]
) -> None:
    near = {name: getattr(GENERIC, name) * 2.0 ** away[name] for name in MEASURED}
    one = Machine(**{k: type(getattr(GENERIC, k))(v) for k, v in near.items()})
    noisy = {k: type(getattr(GENERIC, k))(v * noise[k]) for k, v in near.items()}
    assert Machine(**noisy) == one
    assert Machine.of_settings(one.settings) == one


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.fixed_dictionaries({name: st.floats(0.3, 3) for name in MEASURED}),
    st.fixed_dictionaries(dict.fromkeys(MEASURED, st.floats(0.951, 1.05))),
    st.sampled_from(MEASURED),
)
def test_a_measurement_that_differs_by_noise_keeps_the_table(
    away: dict[str, float], noise: dict[str, float], name: str
) -> None:
    def changed(by: dict[str, float]) -> MachineTable:
        known = {n: getattr(GENERIC, n) * away[n] for n in MEASURED}
        return table(**{n: type(getattr(GENERIC, n))(v * by[n]) for n, v in known.items()})

    first, again = changed(dict.fromkeys(MEASURED, 1.0)), changed(noise)
    assert steady(again, first) is first
    other = changed({**noise, name: 1.2})
    assert steady(other, first) is other
    assert steady(again, None) is again


def test_a_machine_of_no_size_is_refused() -> None:
    with pytest.raises(IRKitError, match=r"far of a machine is 0\.0; expected more than 0"):
        Machine(far=0.0)
    with pytest.raises(IRKitError, match="near of a machine is nan"):
        Machine(near=float("nan"))


def test_costs_change_schedules() -> None:
    func = product(256, 256, 256)
    texts: set[str] = set()
    for machine in (GENERIC, Machine(l1=1 << 14, l2=1 << 16, far=12.0), Machine(multiplied=0.5)):
        sch = automatic_schedule(func, machine)
        assert sch is not None
        texts.add(sch.trace.as_python())
    assert len(texts) > 1


def test_a_table_is_read_back_and_used_in_builds(folder: Path) -> None:
    target = complete_target(Target())
    assert read_table() is None
    assert machine_here(target) == Machine.of_target(target)
    path = write_table(table(l2=1 << 22, far=6.0))
    assert path.parent == folder
    assert [each.name for each in folder.iterdir()] == [path.name]
    found = machine_here(target)
    assert (found.l2, found.far, found.features) == (
        1 << 22,
        6.0,
        Machine.of_target(target).features,
    )
    assert table(far=6.0).digest() == table(far=6.1).digest() != table(far=3.0).digest()
    recorded = irkit.trace(product(64, 64, 64), schedule="auto")
    (scheduled,) = [step for step in recorded if step.name == "auto-schedule"]
    assert '["far",6.0]' in scheduled.pass_text


def damaged(text: str) -> list[bytes]:
    data = json.loads(text)
    others = [
        {**data, "format": 1},
        {**data, "fingerprint": "another"},
        {**data, "l1": 0},
        {**data, "l2": -1},
        {**data, "near": "1"},
        {**data, "far": 1e300},
        {**data, "more": 1},
        {name: value for name, value in data.items() if name != "far"},
        [data],
        None,
    ]
    texts = [json.dumps(each).encode() for each in others]
    nan = text.replace('"far": 1.5', '"far": NaN').encode()
    return [*texts, nan, b"", text[:40].encode(), b"\xff" * 40, text.encode() + b" " * (1 << 15)]


def test_a_damaged_or_foreign_table_counts_as_missing(folder: Path) -> None:
    path = write_table(table())
    assert read_table() == table()
    text = path.read_text()
    for number, bad in enumerate(damaged(text)):
        path.write_bytes(bad)
        assert read_table() is None, number


def test_a_folder_that_others_write_to_is_not_used(folder: Path) -> None:
    write_table(table(far=6.0))
    folder.chmod(0o777)
    assert read_table() is None
    with pytest.raises(IRKitError, match="there is no cache folder"):
        write_table(table())


def test_builds_measure_nothing(folder: Path) -> None:
    irkit.build(product(64, 64, 64))
    path = table_path(fingerprint())
    assert path is not None
    assert not path.exists()


def test_a_measurement_is_of_this_processor_and_an_equal_one_changes_nothing(folder: Path) -> None:
    said: list[str] = []
    found = measure_machine(
        lambda func: irkit.build(func, schedule="none"), seconds=0.05, progress=said.append
    )
    assert len(said) == 6
    assert found.fingerprint == fingerprint()
    assert all(getattr(found, name) > 0 for name in MEASURED)
    write_table(found)
    assert read_table() == found
    assert msgspec.structs.asdict(found)["l1"] >= 4096
