from pathlib import Path

import msgspec

from irkit.tune import RecordFile, read_records, task, verify_records
from irkit.tune.records import SCHEMA, MachineHere, Record, record_id
from tests.tune.programs import product


def test_a_schedule_is_replayed_and_one_that_was_changed_is_found(tmp_path: Path) -> None:
    found = task(product(24, 32, 16))
    steps = msgspec.json.decode(found.space.derive({}).trace.without_where().as_json())
    broken = msgspec.json.decode(msgspec.json.encode(steps).replace(b'"split"', b'"splat"'))
    with RecordFile(tmp_path / "r") as file:
        file.append(found.line())
        for number, trace in enumerate((steps, broken)):
            values = {"number": number}
            file.append(
                Record(
                    SCHEMA, record_id(found.hash, "rules", values, "final"), found.hash, "main",
                    "rules", values, "final", {}, MachineHere("m", 1, 1, 1, 1), {}, "ok",
                    trace=trace,
                )
            )  # fmt: skip
    good, bad = verify_records(read_records(tmp_path / "r"))
    assert good.ok, good.outcome.message
    assert not bad.ok
    assert "splat" in bad.outcome.message
