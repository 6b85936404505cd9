"""Who is let in, what a request may do, what the page may load: the security list, one by one."""

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from irkit.cli.verbs import irkit
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.page_files import address
from irkit.inspector_web.server.app import create_app
from irkit.inspector_web.server.http_server import Server, is_loopback
from irkit.inspector_web.server.security import new_access_rules
from tests.inspector_web.pages import (
    HOSTILE,
    Client,
    client_of,
    hostile_trace,
    matmul_trace,
    opened,
)

GETS = (
    "/api/status",
    "/api/overview",
    "/api/counts?run=0&function=matmul",
    "/api/touching?run=0&function=matmul&text=vi",
    "/api/diff?left=0.3.b&right=0.3.a",
    "/api/lines?state=0.3.a&from=1&to=5",
    "/api/step?run=0&step=3",
    "/api/line?state=0.3.a&line=2",
    "/api/blame?state=0.3.a",
    "/api/search?run=0&text=vi",
    "/api/beside?run=0&other=0&function=matmul",
    "/api/chrome?run=0",
)


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    made = opened(matmul_trace(tmp_path_factory.mktemp("trace")))
    yield made
    made.close()


@pytest.fixture
def stranger(inspection: Inspection) -> Client:
    return client_of(inspection, let_in=False)


@pytest.fixture
def client(inspection: Inspection) -> Client:
    return client_of(inspection)


@pytest.mark.parametrize("path", ["/", address("page.js"), address("main.js"), *GETS])
def test_without_the_token_nothing_is_answered(stranger: Client, path: str) -> None:
    assert stranger.get(path).status_code == 403


def test_a_wrong_token_is_refused(stranger: Client) -> None:
    assert stranger.get("/?token=guess").status_code == 403
    assert "Set-Cookie" not in stranger.get("/?token=é").headers


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(
    stranger: Client,
) -> None:
    answer = stranger.get(f"/?token={stranger.token}")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "irkit-4321=" in cookie
    assert stranger.token not in answer.text
    assert stranger.get("/").status_code == 200


def test_each_run_has_a_token_of_its_own() -> None:
    assert len({new_access_rules().token for _ in range(20)}) == 20
    assert len(new_access_rules().token) >= 32


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:4321", "127.0.0.1", "127.0.0.1:80", "localhost.evil:4321"],
)
def test_another_host_name_is_refused_because_it_may_be_rebound(client: Client, host: str) -> None:
    assert client.get("/api/status", headers={"Host": host}).status_code == 400


def test_localhost_is_this_machine_too(inspection: Inspection) -> None:
    client = client_of(inspection, let_in=False)
    token = client.token
    client.here = "http://localhost:4321"
    assert client.get(f"/?token={token}").status_code == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:80", "https://127.0.0.1:4321"]
)
def test_a_post_must_come_from_the_page(client: Client, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    assert client.post("/api/reload", headers=headers).status_code == 403


def test_a_post_needs_the_token_even_with_the_right_origin(stranger: Client) -> None:
    answer = stranger.post("/api/reload", headers={"Origin": "http://127.0.0.1:4321"})
    assert answer.status_code == 403


def test_what_changes_something_cannot_be_asked_for_with_get(client: Client) -> None:
    assert client.get("/api/reload").status_code == 405


def test_get_changes_nothing(inspection: Inspection, client: Client) -> None:
    for path in GETS:  # What is worked out once is kept.
        client.get(path)
    before = [client.get(path).data for path in GETS]
    revision, workspace = inspection.revision, inspection.workspace
    for path in GETS:
        assert client.post(path, headers={"Origin": "http://127.0.0.1:4321"}).status_code == 405
        assert client.put(path).status_code == 405
    assert [client.get(path).data for path in GETS] == before
    assert (inspection.revision, inspection.workspace) == (revision, workspace)


def test_every_answer_carries_a_policy_without_inline_script_or_style(client: Client) -> None:
    for path in ("/", address("page.js"), "/api/overview", "/nothing", "/api/nothing"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_only_files_of_the_page_are_kept_by_browsers(client: Client) -> None:
    for path in ("/", "/api/overview", "/api/nothing", address("nothing.js"), "/nothing"):
        assert client.get(path).headers["Cache-Control"] == "no-store"
    for name in ("page.js", "page.css", "icon.svg"):
        kept = client.get(address(name)).headers["Cache-Control"]
        assert "immutable" in kept
        assert "private" in kept


def test_nothing_in_the_page_comes_from_elsewhere_or_runs_inline() -> None:
    folder = Path(__file__).parents[3] / "irkit" / "inspector_web" / "static"
    page = (folder / "index.html").read_text()
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    for file in filter(Path.is_file, folder.rglob("*")):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//cdn|@import|eval\(|new Function", text), file.name


def test_hostile_names_are_escaped_wherever_markup_is_sent(tmp_path: Path) -> None:
    inspection = opened(hostile_trace(tmp_path))
    client = client_of(inspection)
    assert inspection.workspace is not None
    found = 0
    for row in inspection.workspace.runs[0].steps.rows():
        page = client.get(f"/api/diff?left=0.{row.index}.b&right=0.{row.index}.a").get_json()
        lines = client.get(f"/api/lines?state=0.{row.index}.a&from=1&to=99").get_json()
        for html in [*page["html"], *lines]:
            bare = re.sub(r'</?(?:span|mark)(?: class="\w")?>', "", html)
            assert not re.search(r"[<>\"]", bare), html
            found += "alert(1)" in bare
    assert found
    inspection.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_in_a_request_comes_back_as_an_error_that_is_escaped(
    client: Client, name: str
) -> None:
    for path in ("/api/diff", "/api/step", "/api/line", "/api/lines", "/api/blame"):
        answer = client.get(
            path, query_string={"left": name, "right": name, "state": name, "step": name}
        )
        assert answer.status_code == 404
        assert answer.mimetype == "application/json"
    page = client.get(f"/{name.replace('/', '_')}")
    assert page.status_code == 404
    assert "<script" not in page.text.lower().replace("<!doctype", "")


@pytest.mark.parametrize(
    "path",
    [
        address("../app.py"),
        address("%2e%2e/app.py"),
        address("/etc/passwd"),
        "/static/page.js",
        "/static/0123456789abcdef/page.js",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/api/lines?state=/etc/passwd",
        "/api/lines?state=0.99999.a",
        "/api/lines?state=9.0.a",
        "/api/step?run=0&step=25",
        "/api/step?run=0&step=-1",
        "/api/step?run=0&step=99999999999999999999",
        "/api/line?state=0.3.a&line=0",
        "/api/line?state=0.3.a&line=100000",
    ],
)
def test_what_is_not_there_is_an_error_and_never_a_file(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_a_mistake_of_ours_says_so_without_a_traceback(
    inspection: Inspection, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "status", lambda: 1 / 0)
    answer = client.get("/api/status")
    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert "ZeroDivisionError" in answer.text


def test_a_large_request_is_refused(client: Client) -> None:
    answer = client.post(
        "/api/reload", data=b"x" * (1 << 17), headers={"Origin": "http://127.0.0.1:4321"}
    )
    assert answer.status_code == 413


def test_answers_hold_no_absolute_path(inspection: Inspection, client: Client) -> None:
    (file,) = inspection.files
    for path in ("/", *GETS):
        text = client.get(path).text
        assert os.path.dirname(file) not in text
        assert os.getcwd() not in text


def test_it_is_never_in_debug_mode(inspection: Inspection) -> None:
    app = create_app(inspection, new_access_rules())
    assert not app.debug
    assert not app.testing
    assert not app.config["PROPAGATE_EXCEPTIONS"]


def test_the_server_listens_on_this_machine_only(inspection: Inspection) -> None:
    rules = new_access_rules()
    server = Server(create_app(inspection, rules), rules)
    try:
        assert server.port
        assert server.address.startswith(f"http://127.0.0.1:{server.port}/?token=")
        assert rules.port == server.port
        own = socket.gethostbyname(socket.gethostname())
        if not is_loopback(own):
            with socket.socket() as other:
                other.settimeout(1)
                assert other.connect_ex((own, server.port)) != 0
    finally:
        server.close()


def test_other_machines_are_let_in_only_if_asked_for_twice(tmp_path: Path) -> None:
    file = matmul_trace(tmp_path)
    done = CliRunner().invoke(irkit, ["inspect", file, "--host", "0.0.0.0", "--no-open"])
    assert done.exit_code != 0
    assert "other machines" in str(done.exception)
