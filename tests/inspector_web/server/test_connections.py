"""Connections that say nothing, and a server that is started again."""

import os
import socket
import time
import urllib.request
from pathlib import Path

import pytest

from irkit.core import IRKitError
from irkit.inspector_web.server import read_token
from tests.inspector_web.browser import served
from tests.inspector_web.pages import matmul_trace, opened


def test_half_open_connections_keep_nobody_out(tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path))) as server:
        silent: list[socket.socket] = []
        for at in range(120):
            made = socket.create_connection(("127.0.0.1", server.port), timeout=5)
            if at % 2:
                made.sendall(b"POST /api/jobs HTTP/1.1\r\nContent-Length: 99\r\n")
            silent.append(made)
        began = time.monotonic()
        with urllib.request.urlopen(server.address, timeout=5) as answer:
            assert answer.status == 200
        assert time.monotonic() - began < 3
        for each in silent:
            each.close()


def test_the_token_of_a_private_file_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = read_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_token(path) == token
    assert len(token) >= 32


@pytest.mark.parametrize("what", ["open", "short", "link", "folder", "fifo"])
def test_a_file_that_others_could_read_or_that_holds_no_token_is_refused(
    what: str, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    if what in ("open", "short"):
        path.write_text("x" * 32 if what == "open" else "x")
        path.chmod(0o644 if what == "open" else 0o600)
    elif what == "link":
        read_token(tmp_path / "other")
        path.symlink_to(tmp_path / "other")
    elif what == "folder":
        path.mkdir()
    else:
        os.mkfifo(path, 0o600)
    with pytest.raises(IRKitError):
        read_token(path)
