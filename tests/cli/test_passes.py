"""``irkit passes``: the list, one pass in full, and JSON."""

import json

from irkit.passes import BUILTIN
from tests.cli.shell import Shell


def test_every_pass_is_listed_with_what_it_needs_and_takes(shell: Shell) -> None:
    done = shell("passes")
    assert (done.code, done.err) == (0, "")
    for p in BUILTIN:
        assert f" {p.name}\n" in done.out
    assert "1,3      simplify\n" in done.out
    assert "graph.1  fuse-ops\n" in done.out
    at = done.out.index(" vectorize-loops\n")
    part = done.out[at : at + 400]
    assert "{lanes: int = 16}" in part
    assert "needs flat_access; gives no_vectorized_loops" in part
    # In the order in which they run.
    assert done.out.index("lower-blocks\n") < done.out.index("flatten-buffers\n") < at


def test_one_pass_is_shown_in_full(shell: Shell) -> None:
    text = shell("passes", "unroll-loops").out
    assert text.startswith("unroll-loops\n\n  Unroll every loop marked unrolled")
    assert "Inner loops go first" in text
    assert "  gives:   no_unrolled_loops\n" in text
    assert "irkit.passes.loop.loops.unroll_loops:unroll_loops (" in text
    assert "max_extent: int = 64\n        Unroll every loop marked" in text
    wrong = shell("passes", "unrol-loops")
    assert wrong.code == 2
    assert "Did you mean 'unroll-loops'" in wrong.err


def test_programs_can_read_the_list(shell: Shell) -> None:
    rows = {row["name"]: row for row in json.loads(shell("passes", "--json").out)}
    assert set(rows) == {p.name for p in BUILTIN}
    assert rows["simplify"]["phases"] == [
        {"pipeline": "loop", "phase": 1},
        {"pipeline": "loop", "phase": 3},
    ]
    option = rows["unroll-loops"]["options"][0]
    assert (option["type"], option["default"]) == ("int", 64)
    assert rows["flatten-buffers"]["gives"] == ["flat_access"]
    assert rows["flatten-buffers"]["package"] == "irkit"
