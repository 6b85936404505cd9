"""The routes of jobs: request one, see how far it is, cancel it; and upload a file."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from flask import Flask, Response, abort, request

from irkit.core import InputError, IRKitError, number_beyond_64_bits
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.job_registry import JOB_KINDS
from irkit.inspector_web.jobs.queue import TooManyJobs
from irkit.inspector_web.jobs.uploads import UPLOAD, UploadName
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.server.security import UPLOAD as UPLOAD_PATH

NO_EDITS = (
    "IR can be edited only if the server listens on this machine, and was not started with "
    "--read-only"
)


class JobRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request for a job."""

    kind: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


def add_job_routes(
    app: Flask, inspection: Inspection, kinds: Mapping[str, JobKind] = JOB_KINDS
) -> None:
    """Add the routes of jobs to the application."""
    jobs = inspection.jobs

    def ask() -> Response:
        workspace = ready_workspace(inspection)
        try:
            job_request = msgspec.json.decode(request.get_data(), type=JobRequest)
            large = number_beyond_64_bits(msgspec.json.decode(job_request.arguments))
        except (msgspec.DecodeError, RecursionError) as error:
            return _refused(InputError(f"this is not a request for a job: {error}"))
        if large is not None:
            return _refused(
                InputError(f"a number of {large.bit_length()} bits; expected at most 64")
            )
        if job_request.kind == "edit" and not inspection.edits:
            return _refused(InputError(NO_EDITS))
        try:
            with inspection.lock:
                id = jobs.submit(workspace, kinds, job_request.kind, bytes(job_request.arguments))
        except IRKitError as error:
            return _refused(error)
        return as_json({"id": id}, HTTPStatus.ACCEPTED)

    def upload() -> Response:
        ready_workspace(inspection)
        try:
            kept = inspection.uploads.keep(request.args.get("name", ""), request.get_data())
            named = msgspec.json.encode(UploadName(kept.number, kept.name))
            return as_json({"id": jobs.begin("upload", UPLOAD, named, kept)}, HTTPStatus.ACCEPTED)
        except IRKitError as error:
            return _refused(error)

    def listed() -> Response:
        return as_json(jobs.infos())

    def info(id: int) -> Response:
        return as_json(jobs.info(id))

    def cancel(id: int) -> Response:
        return as_json(jobs.cancel(id))

    routes: list[tuple[str, str, Any, str]] = [
        ("/api/jobs", "job_ask", ask, "POST"),
        ("/api/jobs", "job_list", listed, "GET"),
        (UPLOAD_PATH, "upload", upload, "POST"),
        ("/api/jobs/<int:id>", "job_info", info, "GET"),
        ("/api/jobs/<int:id>/cancel", "job_cancel", cancel, "POST"),
    ]
    for path, name, view, method in routes:
        app.add_url_rule(path, name, view, methods=[method])


def ready_workspace(inspection: Inspection) -> Workspace:
    """Return the workspace; while the files are still being opened, end the request."""
    if inspection.workspace is None:
        abort(HTTPStatus.CONFLICT, "not ready")
    return inspection.workspace


def as_json(value: object, status: int = 200) -> Response:
    """Create a JSON response."""
    return Response(msgspec.json.encode(value), status, mimetype="application/json")


def _refused(error: IRKitError) -> Response:
    busy = isinstance(error, TooManyJobs)
    status = HTTPStatus.TOO_MANY_REQUESTS if busy else HTTPStatus.BAD_REQUEST
    return as_json({"error": str(error)}, status)
