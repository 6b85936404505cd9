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
MOST_CONNECTIONS = 1_000
"""Open connections: those that send half a request and then nothing must not keep others out."""
SILENT = 15
"""Seconds after which a connection without a request is closed."""


class Server:
    """A listening server; port 0 takes any free port."""

    def __init__(
        self, app: Flask, rules: AccessRules, *, host: str = LOOPBACK, port: int = 0
    ) -> None:
        # It would warn whenever all threads are busy.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server: Any = create_server(
            app,
            sockets=[_listen(host, port)],
            threads=THREADS,
            connection_limit=MOST_CONNECTIONS,
            channel_timeout=SILENT,
            cleanup_interval=5,
            # select() takes no more than 1,024 files.
            asyncore_use_poll=True,
            max_request_body_size=MOST_UPLOADED,
            ident=None,
            clear_untrusted_proxy_headers=True,
        )
        self.host = host
        self.port = int(self._server.effective_port)
        rules.port = self.port
        self._token = rules.token
        self._is_running = False

    @property
    def address(self) -> str:
        """The address that gives a browser access."""
        return f"http://{self.host}:{self.port}/?token={self._token}"

    def run(self) -> None:
        """Serve requests until interrupted, or closed by another thread."""
        self._is_running = True
        self._server.run()

    def close(self) -> None:
        """Stop listening and drop idle connections."""
        if self._is_running:
            self._server.trigger.pull_trigger(self._stop)
        else:
            self._stop()

    def _stop(self) -> None:
        # On the serving thread, which must not use sockets that another thread closes.
        for channel in self._server.active_channels.values():
            channel.will_close = True
        self._server.close()


def _listen(host: str, port: int) -> socket.socket:
    """Bind a port. Waitress would leave its socket open on failure."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise IRKitError(
            f"cannot listen on port {port} of {host}: {error.strerror or error}",
            hint="Choose another port, or --port 0 for any free one.",
        ) from None
    return made


def is_loopback(host: str) -> bool:
    """Return True if an address is one of the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
