"""Uploads: what is accepted, what is refused, and that no other file is read."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from irkit.inspector_web.jobs.uploads import MOST_UPLOADED, shown_name
from irkit.inspector_web.limits import MOST_ASKED
from irkit.inspector_web.load import Inspection
from tests.inspector_web.jobs.test_queue import ORIGIN, until_over
from tests.inspector_web.jobs.test_rerun import named, passes, run_again, run_info
from tests.inspector_web.pages import (
    HOSTILE,
    MATMUL,
    Client,
    client_of,
    matmul_trace,
    opened,
    relu_model,
)


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    made = opened(matmul_trace(tmp_path_factory.mktemp("trace")))
    yield made
    made.close()


@pytest.fixture
def client(inspection: Inspection) -> Client:
    return client_of(inspection)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return Path(relu_model(tmp_path_factory.mktemp("model"))).read_bytes()


def send(client: Client, name: str, data: bytes) -> dict[str, Any]:
    answer = client.post("/api/upload", query_string={"name": name}, data=data, headers=ORIGIN)
    assert answer.status_code == 202, answer.text
    return until_over(client, answer.get_json()["id"])


def test_a_model_becomes_a_run_and_can_be_run_again(client: Client, model: bytes) -> None:
    info = send(client, "net.onnx", model)
    assert info["state"] == "done", info["message"]
    number = info["result"]["run"]
    run = run_info(client, number)
    assert run["title"] == "net.onnx"
    assert {row["level"] for row in run["steps"]} == {"graph", "loop"}
    wanted = passes(client, number, "main")
    named(wanted, "eliminate-dead-nodes")["on"] = False
    again = run_again(client, wanted, number, "main")
    assert again["state"] == "done", again["message"]


def test_text_and_traces_are_accepted_too(client: Client, tmp_path: Path) -> None:
    info = send(client, "k.irs", MATMUL.encode())
    assert run_info(client, info["result"]["run"])["title"] == "k.irs"
    trace = Path(matmul_trace(tmp_path)).read_bytes()
    info = send(client, "old.trace", trace)
    run = run_info(client, info["result"]["run"])
    assert (run["title"], len(run["steps"])) == ("old.trace", 25)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.onnx", b"no model", "the model"),
        ("a.onnx", b"\x08\x07\x12" * 1000, "the model"),
        ("a.irs", b"def f(:\n", "a.irs:1"),
        ("a.irs", b"\xff\xfe\x00", "a.irs is not text"),
        ("a.irs", b"(" * 100_000, "a.irs"),
        ("a.trace", b"no trace", "a.trace"),
        ("a.trace", b"\x00" * 5_000, "a.trace"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(
    inspection: Inspection, client: Client, name: str, data: bytes, said: str
) -> None:
    runs = len(client.get("/api/overview").get_json()["runs"])
    info = send(client, name, data)
    assert info["state"] == "failed"
    assert said in info["message"]
    assert "bug in irkit" not in info["message"]
    assert str(inspection.uploads.folder) not in info["message"]
    assert len(client.get("/api/overview").get_json()["runs"]) == runs


@pytest.mark.long
def test_models_and_traces_changed_at_random_do_no_harm(
    client: Client, model: bytes, tmp_path: Path
) -> None:
    trace = Path(matmul_trace(tmp_path)).read_bytes()
    chosen = random.Random(1)
    for name, data in (("m.onnx", model), ("m.trace", trace)) * 6:
        changed = bytearray(data)
        for _ in range(4):
            changed[chosen.randrange(len(changed))] = chosen.randrange(256)
        info = send(client, name, bytes(changed[: chosen.randrange(10, len(changed) + 1)]))
        assert info["state"] in ("done", "failed")
        assert "bug in irkit" not in info["message"], info["message"]
    assert client.get("/api/status").get_json()["state"] == "ready"


def test_a_model_cannot_read_another_file(client: Client, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"1234" * 4)
    for location in (str(secret), "../../../../etc/passwd", "secret"):
        tensor = onnx.TensorProto(name="w", data_type=1, dims=[4])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
        ends = [onnx.helper.make_tensor_value_info(each, 1, [4]) for each in "xy"]
        graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:], [tensor])
        info = send(client, "a.onnx", onnx.helper.make_model(graph).SerializeToString())
        assert info["state"] == "failed"
        assert "is in another file" in info["message"]


@pytest.mark.parametrize("name", ["a.py", "a", "", "a.onnx.exe", ".onnx/", "a.so", "x.pkl"])
def test_other_files_are_refused(client: Client, name: str) -> None:
    answer = client.post("/api/upload", query_string={"name": name}, data=b"x", headers=ORIGIN)
    assert answer.status_code == 400
    assert (
        "expected a file with one of the suffixes .onnx, .irs, .trace" in answer.get_json()["error"]
    )


@pytest.mark.parametrize(
    "name", ["../../x.irs", "/etc/x.irs", "C:\\x.irs", "..%2fx.irs", "a\0b.irs"]
)
def test_a_name_is_only_shown_and_never_a_path(
    inspection: Inspection, client: Client, name: str
) -> None:
    info = send(client, name, MATMUL.encode())
    title = run_info(client, info["result"]["run"])["title"]
    assert "/" not in title
    assert "\\" not in title
    assert all(each.stem.isdigit() for each in inspection.uploads.folder.iterdir())


@pytest.mark.parametrize("name", HOSTILE)
def test_shown_names_are_printable(name: str) -> None:
    shown = shown_name(name * 20 + ".irs")
    assert shown.endswith(".irs")
    assert len(shown) <= 80
    assert not set("\u202e/\\\0") & set(shown)


def test_an_upload_needs_token_and_origin(inspection: Inspection) -> None:
    stranger = client_of(inspection, let_in=False)
    assert stranger.post("/api/upload?name=a.irs", data=b"x", headers=ORIGIN).status_code == 403
    client = client_of(inspection)
    before = len(os.listdir(inspection.uploads.folder))
    for origin in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
        assert client.post("/api/upload?name=a.irs", data=b"x", headers=origin).status_code == 403
    assert client.get("/api/upload?name=a.irs").status_code == 405
    assert len(os.listdir(inspection.uploads.folder)) == before


def test_a_file_that_is_too_large_or_empty_is_refused(client: Client) -> None:
    size = {"CONTENT_LENGTH": str(MOST_UPLOADED + 1)}
    answer = client.post(
        "/api/upload?name=a.onnx", data=b"x", headers=ORIGIN, environ_overrides=size
    )
    assert answer.status_code == 413
    answer = client.post("/api/upload?name=a.onnx", data=b"", headers=ORIGIN)
    assert "is empty" in answer.get_json()["error"]
    large = client.post("/api/jobs", data=b"x" * (MOST_ASKED + 1), headers=ORIGIN)
    assert large.status_code == 413
