"""Which requests the server accepts.

The server listens on this machine only, but any page in the user's browser can send requests to it,
and any user of the machine can connect. Therefore each server has a token, which is part of the
printed address and becomes a cookie. The Host header must name this machine, since otherwise a
foreign name that resolves to it would count as the same site. What changes anything must be a POST
whose Origin is the page itself. Nothing on the page comes from elsewhere, and no script is inline.
"""

import hmac
from http import HTTPStatus

import msgspec
from flask import Flask, Response, abort, request

from irkit.inspector_web.jobs.uploads import MOST_UPLOADED
from irkit.inspector_web.limits import MOST_ASKED, MOST_POSTED
from irkit.inspector_web.page_files import address
from irkit.inspector_web.server.token_file import new_token

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
UPLOAD = "/api/upload"
"""The route of uploads, whose limit is MOST_UPLOADED."""
JOBS = "/api/jobs"
"""The route of requests for jobs, whose limit is MOST_ASKED."""

READ_ONLY = "This server was started with --read-only: it shows, and runs nothing."

_TO_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>irkit</title>'
    f'<link rel="icon" href="{address("icon.svg")}">'
    f'<script src="{address("enter.js")}"></script>'
    '<meta http-equiv="refresh" content="2;url=/"><p><a href="/">To the page</a></p></html>'
)
NAMES = ("127.0.0.1", "localhost", "[::1]")


class AccessRules(msgspec.Struct):
    """The token of a server, and the hosts that a request can name. ``port`` is set once the server
    listens. With ``read_only`` nothing runs that the page asks for."""

    token: str
    names: tuple[str, ...] = NAMES
    port: int = 0
    read_only: bool = False

    @property
    def cookie(self) -> str:
        """The name of the cookie. Browsers share cookies between ports, so it includes the port."""
        return f"irkit-{self.port}"

    def hosts(self) -> frozenset[str]:
        """Return the allowed values of the Host header."""
        return frozenset(f"{name}:{self.port}" for name in self.names)

    def fits(self, token: str) -> bool:
        """Return True if a token is the right one, in a time that reveals nothing about it."""
        return hmac.compare_digest(token.encode(), self.token.encode())


def new_access_rules(*names: str, token: str = "", read_only: bool = False) -> AccessRules:
    """Create rules with a token, new unless given, for this machine and further host names."""
    return AccessRules(token or new_token(), (*NAMES, *names), read_only=read_only)


def guard(app: Flask, rules: AccessRules) -> None:
    """Check every request to the application, and add the security headers to its responses."""
    app.config["MAX_CONTENT_LENGTH"] = MOST_POSTED

    def check() -> Response | None:
        if request.host not in rules.hosts():
            abort(HTTPStatus.BAD_REQUEST, "This server responds under its own address only.")
        most = {UPLOAD: MOST_UPLOADED, JOBS: MOST_ASKED}.get(request.path, MOST_POSTED)
        request.max_content_length = most
        if (request.content_length or 0) > most:
            abort(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {most} bytes may be sent here.")
        if request.method not in ("GET", "HEAD", "POST"):
            abort(HTTPStatus.METHOD_NOT_ALLOWED)
        token = request.args.get("token")
        if request.method == "GET" and request.path == "/" and token is not None:
            return _let_in(rules, token)
        if not rules.fits(request.cookies.get(rules.cookie, "")):
            abort(HTTPStatus.FORBIDDEN, "Open the address that irkit inspect printed.")
        if request.method == "POST":
            _check_origin(rules)
            if rules.read_only:
                abort(HTTPStatus.FORBIDDEN, READ_ONLY)
        return None

    app.before_request(check)
    app.after_request(_add_headers)


def _let_in(rules: AccessRules, token: str) -> Response:
    if not rules.fits(token):
        abort(
            HTTPStatus.FORBIDDEN,
            "This address is of another server; open the one that irkit inspect printed.",
        )
    # A second page takes the token out of the address, and so out of history and screenshots. A
    # redirect would lose the cookie if the link was followed from another site.
    made = Response(_TO_PAGE, mimetype="text/html")
    made.set_cookie(rules.cookie, rules.token, httponly=True, samesite="Strict", path="/")
    return made


def _check_origin(rules: AccessRules) -> None:
    origins = {f"http://{host}" for host in rules.hosts()}
    if request.headers.get("Origin") not in origins:
        abort(HTTPStatus.FORBIDDEN, "Only the page itself may request this.")


def _add_headers(response: Response) -> Response:
    headers = response.headers
    headers["Content-Security-Policy"] = CSP
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    # What is about a program is kept nowhere; the files of the page say otherwise.
    headers.setdefault("Cache-Control", "no-store")
    return response
