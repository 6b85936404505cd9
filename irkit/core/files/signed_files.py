"""Pickles and the like in a private folder, for later processes of the same user.

A file is believed only if this user's own irkit wrote it: the folder and its files are the user's
and closed to everybody else, and each file is signed with a secret that is made in the folder and
covers the file's name. So a file that was damaged, renamed, or brought from elsewhere counts as
missing, and nothing of it is decoded. ``IRKIT_CACHE=0`` turns the files off.
"""

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

from irkit.core.files.atomic_write import cache_folder

_SECRET = "secret"
_BYTES = 32  # Of a secret, and of a signature.


class SignedFiles:
    """The files of one folder below that of the caches; they end in ``suffix``.

    A file has at most ``most_bytes``; the older half goes once there are ``most_files``.
    """

    def __init__(self, folder: str, suffix: str, most_files: int, most_bytes: int) -> None:
        self.folder = folder
        self.suffix = suffix
        self.most_files = most_files
        self.most_bytes = most_bytes

    def read(self, name: str) -> bytes | None:
        """Return what an earlier process wrote under a name; None if no file can be believed."""
        folder = self._folder()
        if folder is None:
            return None
        secret = self._private_bytes(folder / _SECRET)
        data = self._private_bytes(folder / f"{name}{self.suffix}")
        if secret is None or data is None or len(secret) != _BYTES:
            return None
        signature, image = data[:_BYTES], data[_BYTES:]
        return image if hmac.compare_digest(signature, _signature(secret, name, image)) else None

    def write(self, name: str, image: bytes) -> None:
        """Keep bytes under a name, unless they are too many; it is no error if that fails."""
        folder = self._folder() if len(image) <= self.most_bytes else None
        secret = None if folder is None else self._secret(folder)
        if folder is not None and secret is not None:
            self._make_room(folder)
            path = folder / f"{name}{self.suffix}"
            _write(path, _signature(secret, name, image) + image)

    def _folder(self) -> Path | None:
        """Return the folder, created if necessary; None if it is not the user's alone."""
        caches = cache_folder()
        if caches is None or not hasattr(os, "getuid"):
            return None
        folder = caches / self.folder
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
        except OSError:
            return None
        closed = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
        return folder if closed and found.st_uid == os.getuid() else None

    def _private_bytes(self, path: Path) -> bytes | None:
        """Return the content of a regular file that is the user's and closed to everybody else."""
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                found = os.fstat(file.fileno())
                private = stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077
                if not private or found.st_uid != os.getuid() or found.st_nlink != 1:
                    return None
                return file.read(_BYTES + self.most_bytes)
        except OSError:
            return None

    def _secret(self, folder: Path) -> bytes | None:
        """Return the secret of a folder, made if there is none."""
        path = folder / _SECRET
        if not path.exists():
            try:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(secrets.token_bytes(_BYTES))
            except OSError:
                return None
        found = self._private_bytes(path)
        return found if found is not None and len(found) == _BYTES else None

    def _make_room(self, folder: Path) -> None:
        """Delete the older half of the files once there are many."""
        try:
            with os.scandir(folder) as entries:
                files = [each for each in entries if each.name.endswith(self.suffix)]
            if len(files) >= self.most_files:
                oldest = sorted(files, key=lambda each: each.stat().st_mtime_ns)
                for each in oldest[: self.most_files // 2]:
                    Path(each.path).unlink(missing_ok=True)
        except OSError:
            return


def _signature(secret: bytes, name: str, image: bytes) -> bytes:
    return hmac.new(secret, name.encode() + b"\n" + image, hashlib.sha256).digest()


def _write(path: Path, data: bytes) -> None:
    """Write a file anew and put it in place of whatever is there, even a link or a pipe."""
    try:
        handle, name = tempfile.mkstemp(prefix=".new", dir=path.parent)
    except OSError:
        return
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
