"""``irkit mcp``: what it answers, how much at once, and what it never opens."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import irkit
from irkit.cli.trace_tools import MOST_BYTES, UNTRUSTED, TraceTools
from irkit.core import rewrite
from irkit.ir import For, PrimFunc, parse
from irkit.phases import DEFAULT
from irkit.transform import define_pass
from tests.cli.command import ROOT
from tests.draws import sampled

KERNEL = """\
def scale(A: f32[6, 4], C: f32[6, 4]):
    for i in serial(0, 6):
        for j in serial(0, 4):
            C[i, j] = A[i, j] * f32(2.0)
"""
LONG = "def wide(A: f32[8]):\n" + "".join(f"    A[{n % 8}] = f32({n}.5)\n" for n in range(3000))


NAME = "shorten-for-mcp"


@define_pass
def shorten_for_mcp(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration."""
    return rewrite(func, lambda loop: loop.replace(end=loop.end - 1), on=For)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("traces")
    func = parse(KERNEL)
    irkit.trace(func).save(folder / "good.trace")
    pipeline = DEFAULT.insert(shorten_for_mcp, phase=2)
    irkit.trace(func, pipeline=pipeline).save(folder / "bad.trace")
    irkit.trace(parse(LONG)).save(folder / "long.trace")
    return [str(folder / f"{name}.trace") for name in ("good", "bad", "long")]


def items(answer: str) -> list[Any]:
    made = json.loads(answer)
    assert made["untrusted"] == UNTRUSTED
    return made["items"]


def test_traces_steps_and_differences_are_told(files: list[str]) -> None:
    tools = TraceTools(files)
    listed = items(tools.traces())
    assert [(each["id"], each["title"]) for each in listed][1] == ("t1", "bad.trace")
    steps = items(tools.steps("t1"))
    (at,) = [each["index"] for each in steps if each["name"] == "shorten-for-mcp"]
    lines = items(tools.difference("t1", at))
    assert any(line.startswith("+ ") and "- 1" in line for line in lines)
    assert items(tools.ir("t0", 0, "before"))[0].startswith("def scale(")
    assert any(each.get("left") is None for each in items(tools.compare("t0", "t1")))
    assert items(tools.compare("t0", "t0")) == []


def test_answers_come_in_pages_below_the_limit(files: list[str]) -> None:
    tools = TraceTools(files)
    first = json.loads(tools.ir("t2", 0))
    assert first["pages"] > 1
    pages = [tools.ir("t2", 0, page=page) for page in range(first["pages"])]
    assert max(len(page.encode()) for page in pages) <= MOST_BYTES
    assert sum(len(items(page)) for page in pages) == 3001
    assert "there is no page 99" in json.loads(tools.ir("t2", 0, page=99))["error"]


@pytest.mark.parametrize(
    "name", ["t3", "t-1", "../good.trace", "/etc/passwd", "good.trace", "t0\n"]
)
def test_only_ids_name_a_trace(name: str, files: list[str]) -> None:
    tools = TraceTools(files)
    for ask in (tools.steps, tools.check, tools.bisect):
        assert "expected an id from t0 to t2" in json.loads(ask(name))["error"]


def test_what_names_and_damage_say_is_cut_and_has_no_paths(tmp_path: Path) -> None:
    trace = irkit.trace(parse(KERNEL))
    file = tmp_path / "\x1b[2Jx.trace"
    trace.save(file)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 9 // 10])
    answer = TraceTools([str(file)]).traces()
    assert "x.trace is damaged" in items(answer)[0]["damage"]
    assert str(tmp_path) not in answer
    assert "\\u001b" not in answer


def test_a_program_is_run_in_a_child(files: list[str]) -> None:
    tools = TraceTools(files)
    assert {each["status"] for each in items(tools.check("t0"))} <= {"exact", "close", "idle"}
    guilty = items(tools.bisect("t1"))
    assert "shorten-for-mcp" in guilty[0]["text"]


def test_a_function_is_run_on_made_up_inputs_and_what_it_wrote_is_told(files: list[str]) -> None:
    tools = TraceTools(files)
    head, written = items(tools.run("t0", "scale"))
    assert head["function"] == "scale"
    assert (written["buffer"], written["shape"], written["not_finite"]) == ("C", [6, 4], 0)
    assert len(written["first"]) == 8
    # The pass with the mistake leaves out the last row and column, or more.
    (at,) = [each["index"] for each in items(tools.steps("t1")) if each["name"] == NAME]
    _, fewer = items(tools.run("t1", "scale", at))
    assert fewer["changed"] == written["changed"] - 9
    for asked in (("nobody", None), ("scale", 999)):
        assert "has no loop function" in json.loads(tools.run("t0", *asked))["error"]


def test_a_report_tells_what_each_pass_did_in_lines(files: list[str]) -> None:
    tools = TraceTools(files)
    rows = items(tools.report("t1"))
    (row,) = [each for each in rows if each["name"] == NAME]
    assert (row["status"], row["added"], row["removed"]) == ("changed", 2, 2)
    assert len(rows) == len(items(tools.steps("t1")))


def test_without_the_package_the_verb_says_what_to_install(files: list[str]) -> None:
    code = "import sys; sys.modules['mcp'] = None; sys.modules['mcp.server'] = None\n"
    code += f"sys.argv = ['irkit', 'mcp', {files[0]!r}]\nfrom irkit.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 2
    assert "pip install 'irkit[mcp]'" in done.stderr


@pytest.mark.parametrize("allow_run", sampled([False, True], every=2))
def test_a_client_asks_over_standard_input(allow_run: bool, files: list[str]) -> None:
    pytest.importorskip("mcp", reason="the package mcp is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    args = ["-m", "irkit", "mcp", *files, *(["--allow-run"] if allow_run else [])]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": paths}

    async def ask() -> tuple[set[str], str, list[Any]]:
        server = StdioServerParameters(command=sys.executable, args=args, env=env)
        async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            listed = await session.list_tools()
            answer = await session.call_tool("steps", {"trace": "t0"})
            wrong = ({"trace": "t9"}, {"trace": "t0", "page": "first"}, {})
            errors = [await session.call_tool("steps", each) for each in wrong]
            assert not answer.is_error
            return {each.name for each in listed.tools}, answer.content[0].text, errors

    names, answer, errors = asyncio.run(ask())
    assert [each.is_error for each in errors] == [True] * 3
    said = [json.loads(each.content[0].text)["error"] for each in errors]
    assert "expected an id from t0 to t2" in said[0]
    assert said[1].startswith("wrong arguments of steps: page is 'first': input should be a valid")
    assert said[2] == "wrong arguments of steps: trace is missing"
    reading = {"traces", "steps", "ir", "difference", "compare", "report"}
    assert names == (reading | {"check", "bisect", "run"} if allow_run else reading)
    assert items(answer)
