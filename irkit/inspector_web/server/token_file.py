"""A private file that holds the token of a server, so that it is the same after a restart."""

import os
import re
import secrets
import stat
from pathlib import Path

from irkit.core import IRKitError

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,128}\Z")


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)


def read_token(path: Path) -> str:
    """Return the token in a file, which is made if there is none.

    Raises: IRKitError if other users can read or replace the file, or if it holds no token.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
            token = new_token()
            made.write(f"{token}\n")
            return token
    except FileExistsError:
        pass
    except OSError as error:
        raise IRKitError(f"{path} cannot be made: {error.strerror}") from None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise IRKitError(f"{path} cannot be read: {error.strerror}") from None
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise IRKitError(f"{path} is not a file")
    with open(handle, "rb") as opened:
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise IRKitError(
                f"{path} is not private: other users could read the token",
                hint=f"Run: chmod 600 {path}, or name a file that does not exist.",
            )
        text = opened.read(1_000).decode(errors="replace").strip()
    if not _TOKEN.match(text):
        raise IRKitError(
            f"{path} holds no token; expected 32 to 128 letters, digits, - and _",
            hint="Name a file that does not exist, to have one made.",
        )
    return text
