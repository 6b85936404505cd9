"""Serve the application with waitress, on this machine only unless told otherwise."""

import ipaddress
import logging
import socket
from typing import Any

from flask import Flask
from waitress.server import create_server

from irkit.core import IRKitError
from irkit.inspector_web.jobs.uploads import MOST_UPLOADED
from irkit.inspector_web.server.security import AccessRules

LOOPBACK = "127.0.0.1"
THREADS = 8


class Server:
    """A server that listens; port 0 takes any that is free."""

    def __init__(
        self, app: Flask, door: AccessRules, *, host: str = LOOPBACK, port: int = 0
    ) -> None:
        # It warns of every moment in which all threads are busy.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server: Any = create_server(
            app,
            sockets=[_listening(host, port)],
            threads=THREADS,
            max_request_body_size=MOST_UPLOADED,
            ident=None,
            clear_untrusted_proxy_headers=True,
        )
        self.host = host
        self.port = int(self._server.effective_port)
        door.port = self.port
        self._token = door.token
        self._runs = False

    @property
    def address(self) -> str:
        """Return the address that lets a browser in."""
        return f"http://{self.host}:{self.port}/?token={self._token}"

    def run(self) -> None:
        """Answer requests until interrupted, or closed by another thread."""
        self._runs = True
        self._server.run()

    def close(self) -> None:
        """Stop listening, and leave connections that only wait."""
        if self._runs:
            self._server.trigger.pull_trigger(self._stop)
        else:
            self._stop()

    def _stop(self) -> None:
        # On the thread that runs it: it must not look at sockets that another one closes.
        for channel in self._server.active_channels.values():
            channel.will_close = True
        self._server.close()


def _listening(host: str, port: int) -> socket.socket:
    """Take a port: waitress would leave its socket open where it cannot."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise IRKitError(
            f"port {port} of {host} cannot be listened on: {error.strerror or error}",
            hint="Give another one, or --port 0 for any that is free.",
        ) from None
    return made


def is_loopback(host: str) -> bool:
    """Say whether an address is one of this machine for itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
