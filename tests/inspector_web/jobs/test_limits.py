"""A pass that hangs, leaks or crashes when passes run again: it is named, and the rest is kept."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from irkit.inspector_web.jobs import replay_job
from irkit.inspector_web.jobs.job_registry import JOB_KINDS
from irkit.inspector_web.limits import PASS_LIMITS
from irkit.inspector_web.load import Inspection
from irkit.processes import Limits, half_of_memory
from tests.inspector_web.jobs.test_rerun import named, passes, run_again, run_info
from tests.inspector_web.pages import Client, client_of

MODULE = """\
import ctypes, time
from irkit.ir import PrimFunc
from irkit.transform import define_pass

@define_pass
def misbehave(func: PrimFunc, *, how: str = "") -> PrimFunc:
    if how == "hang":
        time.sleep(600)
    if how == "leak":
        kept = [bytes([7]) * (1 << 26) for _ in range(1000)]
    if how == "crash":
        ctypes.string_at(0)
    return func
"""
HERE = MODULE.replace("def misbehave(", "def misbehave_here(")
"""As most users have it: a pass of the script itself, which no other process can import."""
SCRIPT = f"""\
{HERE}
import irkit
from irkit.ir import parse
from irkit.phases import DEFAULT
from misbehaving import misbehave

func = parse("def f(C: f32[8]):\\n    for i in serial(0, 8):\\n        C[i] = f32(1.0)\\n")
both = DEFAULT.insert(misbehave, phase=2).insert(misbehave_here, phase=2)
irkit.lower(func, pipeline=both)
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "misbehaving.py").write_text(MODULE)
    (folder / "s.py").write_text(SCRIPT)
    inspection = Inspection(
        (str(folder / "s.py"),), pass_limits=Limits(seconds=2.0, memory=1 << 28)
    )
    inspection.open()
    assert inspection.message == ""
    yield client_of(inspection)
    inspection.close()


@pytest.mark.parametrize("name", ["misbehave", "misbehave-here"])
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("hang", "did not end within 2 s"),
        ("leak", "needed more than 256 MiB of memory"),
        ("crash", "crashed its process with SIGSEGV"),
    ],
)
def test_the_pass_is_named_with_its_limit_and_what_ran_before_it_is_kept(
    how: str,
    said: str,
    name: str,
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = passes(client, 0, "f")
    named(wanted, name)["options"] = {"how": how}
    info = run_again(client, wanted, 0, "f")
    assert info["state"] == "done", info["message"]
    assert info["result"]["failed"]
    assert info["pass_limit"] == 2
    steps = run_info(client, info["result"]["run"])["steps"]
    assert (steps[-1]["name"], steps[-1]["status"]) == (name, "failed")
    assert said in steps[-1]["message"], steps[-1]["message"]
    assert len(steps) > 10
    number, last = info["result"]["run"], steps[-1]["index"]
    details = client.get(f"/api/step?run={number}&step={last}").get_json()
    command, verb, folder = shlex.split(details["replay"])
    assert (command, verb) == ("irkit", "replay")
    if name == "misbehave-here" and how == "crash":
        again = replay_job(folder, JOB_KINDS)
        assert (again.outcome, again.found) == ("same", again.expected)


def test_the_limits_are_a_minute_and_half_of_the_memory() -> None:
    assert (PASS_LIMITS.seconds, PASS_LIMITS.memory) == (60.0, half_of_memory())
