"""An edited graph: read with the constants of the old one, and run on down to its kernels."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.inspector_web.jobs.edits.test_edit import edit, text_of
from tests.inspector_web.jobs.test_queue import ORIGIN, until_over
from tests.inspector_web.jobs.test_rerun import run_info
from tests.inspector_web.pages import Client, client_of, conv_model, opened_model


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    inspection = opened_model(conv_model)
    yield client_of(inspection)
    inspection.close()


def rows(client: Client, run: int = 0) -> list[dict[str, Any]]:
    return run_info(client, run)["steps"]


def row_of(client: Client, name: str) -> int:
    found = [row["index"] for row in rows(client) if row["name"] == name]
    return found[0]


@pytest.mark.parametrize("name", ["simplify-graph", "fuse-ops", "plan-memory"])
def test_the_text_of_a_graph_can_be_edited_and_is_valid(client: Client, name: str) -> None:
    step = row_of(client, name)
    info = edit(client, text_of(client, step)["text"], step=step)
    assert info["state"] == "done", info["message"]
    assert info["result"] == {"run": None, "failed": False}


def test_the_rest_runs_down_to_the_kernels_and_is_compared_with_the_old_run(client: Client) -> None:
    step = row_of(client, "eliminate-dead-nodes")
    text = text_of(client, step)["text"]
    found = re.search(r"(\w+): f32\[1, 8, 6, 6\] = relu\((\w+)\)", text)
    assert found is not None, text
    same = text.replace(found[0], f"twice: f32[1, 8, 6, 6] = relu({found[2]})\n"
                                  f"    {found[1]}: f32[1, 8, 6, 6] = relu(twice)")  # fmt: skip
    other = text.replace(found[0], found[0].replace("relu", "exp"))
    for edited, status in ((same, "exact"), (other, "differs")):
        assert edited != text
        info = edit(client, edited, step=step, go=True)
        assert (info["state"], info["result"]["failed"]) == ("done", False), info
        number = info["result"]["run"]
        made = rows(client, number)
        assert [row["name"] for row in made[:2]] == ["(edit)", rows(client)[step + 1]["name"]]
        assert {row["level"] for row in made} == {"graph", "loop"}
        assert made[-1]["name"] == rows(client)[-1]["name"]
        asked = {"kind": "verdicts", "arguments": {"run": number, "step": 0}}
        job = client.post("/api/jobs", json=asked, headers=ORIGIN).get_json()["id"]
        (verdict,) = until_over(client, job)["result"]["verdicts"]
        assert verdict["status"] == status, verdict


def test_kernels_that_were_made_stay_in_the_module(client: Client) -> None:
    step = row_of(client, "plan-memory")
    text = text_of(client, step)["text"]
    info = edit(client, text.replace("(arena_size=", "(edited=1, arena_size="), step=step, go=True)
    assert (info["state"], info["result"]["failed"]) == ("done", False), info["message"]
    made = rows(client, info["result"]["run"])
    kernels = {row["function"] for row in rows(client) if row["level"] == "loop"}
    assert {row["function"] for row in made[1:]} == kernels
    assert made[0]["status"] == "changed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("relu(", "rely("), "rely"),
        (lambda text: text.replace("def main(", "def other("), "the function is named 'other'"),
        (lambda text: text.replace("x: f32[1, 3, 8, 8]", "x: f32[1, 3, 8, 9]"), "this IR is inval"),
        (lambda text: re.sub('digest="....', 'digest="ffff', text), "has the digest ffff"),
        (lambda text: re.sub(r"return \w+", "return x", text), "or another result"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    client: Client, change: Any, said: str
) -> None:
    step = row_of(client, "eliminate-dead-nodes")
    text = text_of(client, step)["text"]
    info = edit(client, change(text), step=step)
    assert info["state"] == "failed"
    assert said in info["message"]


@pytest.mark.parametrize("name", ["inline-functions", "lower-to-loops"])
def test_the_text_of_a_module_can_be_edited_and_is_valid(client: Client, name: str) -> None:
    step = row_of(client, name)
    info = edit(client, text_of(client, step)["text"], step=step)
    assert (info["state"], info["message"]) == ("done", "")


def test_the_rest_runs_on_an_edited_module_and_verdicts_are_against_the_old_run(
    client: Client,
) -> None:
    step = row_of(client, "lower-to-loops")
    text = text_of(client, step)["text"]
    found = re.search(r"= max\((.*), 0\.0\)", text)
    assert found is not None, text
    other = text.replace(found[0], f"= max({found[1]}, 1000.0)")
    info = edit(client, other, step=step, go=True)
    assert (info["state"], info["result"]["failed"]) == ("done", False), info["message"]
    number = info["result"]["run"]
    made = rows(client, number)
    kernels = {row["function"] for row in rows(client) if row["level"] == "loop"}
    assert (made[0]["name"], made[1]["name"]) == ("(edit)", "plan-memory")
    assert {row["function"] for row in made if row["level"] == "loop"} == kernels
    asked = {"kind": "verdicts", "arguments": {"run": number, "step": 0}}
    job = client.post("/api/jobs", json=asked, headers=ORIGIN).get_json()["id"]
    (verdict,) = until_over(client, job)["result"]["verdicts"]
    assert verdict["status"] == "differs", verdict


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def softmax(", "def softer(", "the functions are main, conv_relu, softer; expected main"),
        ('call("softmax", r)', 'call("softmax", x)', "softmax"),
        ('call("softmax", r)', 'call("missing", r)', "missing"),
        ("p1: f32[8, 3, 3, 3]", "p1: f32[8, 3, 3, 4]", "conv_relu"),
    ],
)
def test_what_does_not_fit_a_module_is_refused(
    client: Client, old: str, new: str, said: str
) -> None:
    step = row_of(client, "lower-to-loops")
    text = text_of(client, step)["text"]
    assert old in text
    info = edit(client, text.replace(old, new, 1), step=step, go=True)
    assert info["state"] == "failed"
    assert said in info["message"]
    assert "bug in irkit" not in info["message"]
