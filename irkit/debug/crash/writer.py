"""Crash folders, written completely or not at all."""

import os
import secrets
import shlex
import shutil
from pathlib import Path

import msgspec

from irkit.core import IRKitError
from irkit.debug.crash.folder import JSON_NAME, REPORT_NAME, Crash, read_crash
from irkit.debug.crash.limits import MAX_COPIES, MAX_TEXT_BYTES
from irkit.debug.crash.material import CrashMaterial, material_of_kernel, material_of_pass
from irkit.debug.isolation.kernels import KernelHalted
from irkit.transform import PassFailed

PREFIX = "irkit-crash-"


def write_crash(error: PassFailed | KernelHalted, folder: str | os.PathLike[str] = ".") -> Path:
    """Write a folder ``irkit-crash-HASH`` in ``folder`` and return its path.

    It is written completely or not at all. The same failure has the same hash and is written once.
    Raises: OSError if the folder cannot be written; IRKitError if the failure was in another
    process and its IR is not here.
    """
    made = material_of_kernel(error) if isinstance(error, KernelHalted) else material_of_pass(error)
    parent = Path(folder)
    parent.mkdir(parents=True, exist_ok=True)
    partial = parent / f".{PREFIX}{secrets.token_hex(8)}.partial"
    partial.mkdir()
    try:
        why_not = made.write_data(partial) or made.crash.not_replayable
        return _move_into_place(partial, parent, made, why_not)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _move_into_place(partial: Path, parent: Path, made: CrashMaterial, why_not: str) -> Path:
    for copy in range(1, MAX_COPIES):
        name = PREFIX + made.crash.hash + (f"-{copy}" if copy > 1 else "")
        final = parent / name
        if final.exists():
            if _is_same(final, made.crash):
                return final
            continue
        command = "" if why_not else f"irkit replay {shlex.quote(str(final))}"
        crash = msgspec.structs.replace(made.crash, not_replayable=why_not, command=command)
        text = msgspec.json.format(msgspec.json.encode(crash), indent=2)
        (partial / JSON_NAME).write_bytes(text)
        how = command or f"It cannot be replayed: {why_not}"
        report = f"{made.headline}\n\n{how}\n\n{made.explained}"
        for file, content in (*made.texts.items(), (REPORT_NAME, report)):
            if content:
                (partial / file).write_bytes(_cut(content))
        try:
            partial.rename(final)
        except OSError:
            if final.exists():  # Another process wrote it first.
                continue
            raise
        return final
    raise IRKitError(f"{parent} has {MAX_COPIES} crash folders of the same name; remove some")


def _is_same(folder: Path, crash: Crash) -> bool:
    try:
        return read_crash(folder).hash == crash.hash
    except IRKitError:
        return False


def _cut(text: str) -> bytes:
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= MAX_TEXT_BYTES:
        return data
    return data[:MAX_TEXT_BYTES] + f"\n# cut: {len(data)} bytes in all\n".encode()
