"""Who may ask the server for what.

The server listens on this machine only, but any page in the user's browser can send requests to
it, and any user of the machine can connect. So there is a token for each run, which the printed
address carries and which becomes a cookie; the Host header must name this machine, or a
foreign name that resolves to it would count as the same site; and what changes anything must be a
POST that says it comes from the page itself. Nothing on the page comes from elsewhere or runs
inline.
"""

import hmac
import secrets
from http import HTTPStatus

import msgspec
from flask import Flask, Response, abort, request

from irkit.inspector_web.jobs.uploads import MOST_UPLOADED

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
MOST_POSTED = 1 << 16
"""Bytes of the body of a request."""
UPLOAD = "/api/upload"
"""Where files are sent to, which may have MOST_UPLOADED bytes."""

_ON = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>irkit</title>'
    '<link rel="icon" href="/static/icon.svg">'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">To the page</a></p></html>'
)
NAMES = ("127.0.0.1", "localhost", "[::1]")


class AccessRules(msgspec.Struct):
    """The token of one run, and the hosts under which the page may be asked for. ``port`` is known
    once the server listens."""

    token: str
    names: tuple[str, ...] = NAMES
    port: int = 0

    @property
    def cookie(self) -> str:
        """Name the cookie: browsers share them between ports, so two runs need two."""
        return f"irkit-{self.port}"

    def hosts(self) -> frozenset[str]:
        """List what the Host header may say."""
        return frozenset(f"{name}:{self.port}" for name in self.names)

    def fits(self, given: str) -> bool:
        """Compare a token in a time that tells nothing about it."""
        return hmac.compare_digest(given.encode(), self.token.encode())


def new_access_rules(*names: str) -> AccessRules:
    """Make a new token."""
    return AccessRules(secrets.token_urlsafe(24), (*NAMES, *names))


def guard(app: Flask, door: AccessRules) -> None:
    """Let only those in who have the token, by the rules above."""
    app.config["MAX_CONTENT_LENGTH"] = MOST_POSTED

    def check() -> Response | None:
        if request.host not in door.hosts():
            abort(HTTPStatus.BAD_REQUEST, "This server answers under its own address only.")
        most = MOST_UPLOADED if request.path == UPLOAD else MOST_POSTED
        request.max_content_length = most
        if (request.content_length or 0) > most:
            abort(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {most} bytes may be sent here.")
        if request.method not in ("GET", "HEAD", "POST"):
            abort(HTTPStatus.METHOD_NOT_ALLOWED)
        given = request.args.get("token")
        if request.method == "GET" and request.path == "/" and given is not None:
            return _let_in(door, given)
        if not door.fits(request.cookies.get(door.cookie, "")):
            abort(HTTPStatus.FORBIDDEN, "Open the address that irkit inspect printed.")
        if request.method == "POST":
            _check_origin(door)
        return None

    app.before_request(check)
    app.after_request(_sealed)


def _let_in(door: AccessRules, given: str) -> Response:
    if not door.fits(given):
        abort(HTTPStatus.FORBIDDEN, "This address is of another run; open the one that is printed.")
    # The token goes out of the address, or it would stand in the history and in screenshots. A
    # redirect would lose the cookie where the link was followed from a page of another site.
    made = Response(_ON, mimetype="text/html")
    made.set_cookie(door.cookie, door.token, httponly=True, samesite="Strict", path="/")
    return made


def _check_origin(door: AccessRules) -> None:
    origins = {f"http://{host}" for host in door.hosts()}
    if request.headers.get("Origin") not in origins:
        abort(HTTPStatus.FORBIDDEN, "Only the page itself may ask for this.")


def _sealed(response: Response) -> Response:
    headers = response.headers
    headers["Content-Security-Policy"] = CSP
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Cache-Control"] = "no-store"
    return response
