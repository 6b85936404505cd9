"""The verb machine shows what is known, measures when told to, and forgets; targets lists names."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from irkit.cli import machine as verb
from irkit.cli.verbs import irkit
from irkit.core import DEVICE_TABLE, TARGET_TABLE, Target
from irkit.tune import MachineTable, fingerprint
from irkit.tune.machine_table import FORMAT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("IRKIT_CACHE", raising=False)
    tmp_path.chmod(0o700)
    return tmp_path


def measured() -> MachineTable:
    sizes = (49152, 1 << 20, 1 << 25)
    return MachineTable(FORMAT, fingerprint(), *sizes, 4.0, 2.0, 2.0, 0.25, 6.0, 8.0)


def constantly(table: MachineTable) -> Callable[..., MachineTable]:
    def measure(*_: object, **__: object) -> MachineTable:
        return table

    return measure


def said(*args: str) -> str:
    done = CliRunner().invoke(irkit, ["machine", *args])
    assert done.exit_code == 0, done.output
    return done.output


def test_it_shows_measures_and_forgets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "table      built in" in said()
    assert json.loads(said("--json"))["table"] is None
    kept = measured()
    monkeypatch.setattr(verb, "measure_machine", constantly(kept))
    out = said("--measure")
    assert f"table      {kept.digest()}" in out
    assert "far              6.0 cycles  measured" in out
    data = json.loads(said("--json"))
    assert (data["processor"], data["table"]) == (fingerprint(), kept.digest())
    assert data["machine"]["far"] == 6.0
    (path,) = folder.iterdir()
    path.write_text("{")
    assert "is damaged and not used: measure again" in said()
    assert "table      built in" in said("--forget")
    assert not list(folder.iterdir())


def test_it_cannot_measure_and_forget_at_once() -> None:
    done = CliRunner().invoke(irkit, ["machine", "--measure", "--forget"])
    assert done.exit_code == 2
    assert "exclude each other" in done.output


def test_what_cannot_be_kept_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = measured()
    monkeypatch.setattr(verb, "measure_machine", constantly(kept))
    monkeypatch.setenv("IRKIT_CACHE", "0")
    done = CliRunner().invoke(irkit, ["machine", "--measure"])
    assert done.exit_code != 0
    assert "there is no cache folder to keep the table in" in f"{done.output}{done.exception}"


def test_targets_lists_every_target_and_the_host() -> None:
    done = CliRunner().invoke(irkit, ["targets"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    processors, devices = (
        [line.split()[0] for line in table.splitlines()[1:]]
        for table in done.output.strip().split("\n\n")
    )
    assert processors == ["host", *(row.name for row in TARGET_TABLE), "c"]
    assert devices == [row.name for row in DEVICE_TABLE]


def test_targets_as_json_have_all_that_is_known() -> None:
    done = CliRunner().invoke(irkit, ["targets", "--json"])
    found = json.loads(done.output)
    assert [row["vector_bytes"] for row in found["targets"] if row["name"] == "x86-64-v3"] == [32]
    for name in found["kinds"]:
        assert Target(name).kind == name
