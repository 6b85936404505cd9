"""The web application: routes that answer the page's requests with JSON."""

import html
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException

from irkit.core import InputError, IRKitError
from irkit.debug import chrome_trace
from irkit.inspector_web.api.blame_page import blame_page
from irkit.inspector_web.api.diff_page import coloured_lines, diff_page
from irkit.inspector_web.api.overview import counts, kernel_infos, overview
from irkit.inspector_web.api.step_detail import editor_place, line_info, step_info
from irkit.inspector_web.api.view_pages import executor_page, graph_page, memory_page, nest_page
from irkit.inspector_web.jobs.edits import editable
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.job_registry import JOB_KINDS
from irkit.inspector_web.jobs.rerun import plan
from irkit.inspector_web.limits import MOST_LINES, MOST_PATTERN, MOST_SEARCHED
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.page_files import TYPES, address, served_files
from irkit.inspector_web.runs.align import beside
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.server.job_routes import add_job_routes, as_json, ready_workspace
from irkit.inspector_web.server.security import AccessRules, guard
from irkit.inspector_web.views.search import search

FOR_GOOD = "private, max-age=31536000, immutable"
"""The address of a file of the page holds a digest of all, and changes with them."""

LONGEST_ADDRESS = 8_000
"""Limit of the address of a cached response. Units: characters."""

ResponseMaker = Callable[[Workspace], object]


def create_app(
    inspection: Inspection, rules: AccessRules, kinds: Mapping[str, JobKind] = JOB_KINDS
) -> Flask:
    """Create the application for an inspection, with its access rules and kinds of job."""
    app = Flask("irkit.inspector_web", static_folder=None, template_folder=None)
    app.url_map.merge_slashes = False
    guard(app, rules)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(IRKitError, _known_error)
    app.register_error_handler(Exception, _internal_error)

    def answer(path: str, make: ResponseMaker, *, kept: bool = False) -> None:
        def view() -> Response:
            # No lock is held here: a slow request does not hold up others.
            workspace = ready_workspace(inspection)
            address = request.full_path
            if not kept or len(address) > LONGEST_ADDRESS:
                return as_json(make(workspace))
            made = workspace.responses.get(address, lambda: msgspec.json.encode(make(workspace)))
            return Response(made, mimetype="application/json")

        app.add_url_rule(path, path, view, methods=["GET"])

    app.add_url_rule("/", "page", _page, methods=["GET"])
    app.add_url_rule(address("<path:name>"), "static", _static, methods=["GET"])
    app.add_url_rule("/api/status", "status", lambda: as_json(inspection.status()))
    app.add_url_rule(
        "/api/reload", "reload", lambda: as_json({"begun": inspection.reload()}), methods=["POST"]
    )
    answer("/api/overview", overview)
    answer("/api/counts", lambda w: counts(w.run(_number("run")), _text("function")))
    answer("/api/kernels", lambda w: kernel_infos(w.run(_number("run"))), kept=True)
    answer("/api/touching", _touching)
    answer("/api/diff", _diff, kept=True)
    answer("/api/lines", _lines)
    answer("/api/step", _step)
    answer("/api/line", lambda w: line_info(w.stage(_text("state")), _line(w)))
    answer("/api/blame", _blame)
    answer("/api/search", _search)
    answer("/api/beside", _beside)
    answer("/api/chrome", lambda w: msgspec.Raw(chrome_trace(w.run(_number("run")).trace)))
    answer("/api/editable", lambda w: editable(w.run(_number("run")), _number("step")))
    answer("/api/plan", lambda w: plan(w.run(_number("run")), _text("function")))
    answer("/api/nest", _nest, kept=True)
    answer("/api/memory", lambda w: memory_page(w.stage(_text("state"))), kept=True)
    answer("/api/graph", lambda w: graph_page(w.stage(_text("state")), _opened()), kept=True)
    answer("/api/executor", lambda w: executor_page(w.stage(_text("state"))), kept=True)
    answer("/api/native", lambda w: inspection.native.of(w.stage(_text("state"))))
    app.add_url_rule(
        "/api/editor",
        "editor",
        lambda: as_json(_editor(ready_workspace(inspection))),
        methods=["POST"],
    )
    add_job_routes(app, inspection, kinds)
    return app


def _page() -> Response:
    return Response(served_files()["index.html"], mimetype=TYPES["html"])


def _static(name: str) -> Response:
    found = served_files().get(name)
    if found is None:
        abort(HTTPStatus.NOT_FOUND)
    made = Response(found, mimetype=TYPES[name.rpartition(".")[2]])
    made.headers["Cache-Control"] = FOR_GOOD
    return made


def _text(name: str) -> str:
    return request.args.get(name, "")


def _opened() -> list[str]:
    try:
        return msgspec.json.decode(_text("open") or "[]", type=list[str])
    except msgspec.DecodeError:
        raise InputError("open is not a list of keys") from None


def _number(name: str, default: int = 0) -> int:
    text = request.args.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise IRKitError(f"{name} is {text[:40]!r}; expected a number")
    return int(text)


def _line(workspace: Workspace) -> int:
    line, lines = _number("line", 1), len(workspace.stage(_text("state")).ids)
    if not 1 <= line <= lines:
        raise IRKitError(f"there is no line {line}; the text has {lines}, numbered from 1")
    return line


def _touching(workspace: Workspace) -> object:
    run = workspace.run(_number("run"))
    return run.steps.touching(_text("function"), _text("text")[:MOST_PATTERN])


def _diff(workspace: Workspace) -> object:
    left, right = workspace.stage(_text("left")), workspace.stage(_text("right"))
    return diff_page(workspace, left, right, up_to_names=_text("names") == "1")


def _lines(workspace: Workspace) -> list[str]:
    begin = max(1, _number("from", 1))
    end = min(_number("to", begin), begin + MOST_LINES - 1)
    return coloured_lines(workspace, workspace.stage(_text("state")), begin, end)


def _nest(workspace: Workspace) -> object:
    return nest_page(workspace.stage(_text("left")), workspace.stage(_text("right")))


def _step(workspace: Workspace) -> object:
    run, number = _number("run"), _number("step")
    workspace.step(run, number)
    return step_info(workspace.runs[run], number)


def _editor(workspace: Workspace) -> object:
    run, number = _number("run"), _number("step")
    workspace.step(run, number)
    return editor_place(workspace.runs[run], number)


def _blame(workspace: Workspace) -> object:
    stage = workspace.stage(_text("state"))
    return blame_page(stage.run.blame, stage)


def _beside(workspace: Workspace) -> object:
    run, other = workspace.run(_number("run")), workspace.run(_number("other"))
    return beside(workspace, run, other, _text("function"))


def _search(workspace: Workspace) -> object:
    run, text = workspace.run(_number("run")), _text("text")
    options: dict[str, Any] = {"regex": _text("regex") == "1", "case": _text("case") == "1"}
    try:
        return {"found": search(run.texts, text[:MOST_SEARCHED], **options)}
    except InputError as error:  # Half an expression is not an error while somebody is typing.
        return {"problem": str(error)}


def _http_error(error: HTTPException) -> Response:
    code = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    return _error(code, error.description or "")


def _known_error(error: IRKitError) -> Response:
    return _error(HTTPStatus.NOT_FOUND, str(error))


def _internal_error(error: Exception) -> Response:
    return _error(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"This is a bug in irkit: {type(error).__name__}. The other pages still work.",
    )


def _error(code: int, text: str) -> Response:
    """Respond with JSON to the page, and with a small page to a person who typed an address."""
    if request.path.startswith("/api/"):
        return as_json({"error": text}, code)
    title = HTTPStatus(code).phrase
    body = f"<h1>{title}</h1><p>{html.escape(text)}</p>"
    return Response(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>{body}</html>",
        code,
        mimetype="text/html",
    )
