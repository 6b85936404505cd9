"""The verb targets: one line for each target that has a name, or JSON."""

import json

from click.testing import CliRunner

from irkit.cli.verbs import irkit
from irkit.core import TARGET_TABLE, Target


def test_it_lists_every_target_and_the_host() -> None:
    done = CliRunner().invoke(irkit, ["targets"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    names = [line.split()[0] for line in done.output.splitlines()[1:]]
    assert names == ["host", *(row.name for row in TARGET_TABLE), "c"]


def test_json_has_all_that_is_known() -> None:
    done = CliRunner().invoke(irkit, ["targets", "--json"])
    found = json.loads(done.output)
    assert [row["vector_bytes"] for row in found["targets"] if row["name"] == "x86-64-v3"] == [32]
    for name in found["kinds"]:
        assert Target(name).kind == name
