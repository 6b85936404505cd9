"""Compilation targets as data. Detecting the host machine is the business of code generation."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from irkit.core.errors import IRKitError
from irkit.core.target.device_table import DEVICE_KINDS, DEVICE_TABLE, DeviceRow, find_device
from irkit.core.target.target_table import TARGET_TABLE, TargetRow, find_row

KINDS = ("llvm", "c", *DEVICE_KINDS)
_OPTIONS = {
    "triple": "triple", "cpu": "cpu", "features": "features", "opt-level": "opt_level",
    "mtriple": "triple", "mcpu": "cpu", "mattr": "features", "arch": "cpu",
}  # fmt: skip
"""Options in the text of a target; the last four are those of LLVM's tools and of TVM."""


class Target(msgspec.Struct, frozen=True):
    """What to generate code for; empty fields mean the host machine's value.

    ``kind`` is "llvm" for native code, "c" for C source, or "opencl", "cuda" or "amdgpu" for a
    device with threads; or else all in one: a name that
    ``irkit targets`` lists, such as ``"raspberry-pi-4"``; a text, such as
    ``"llvm -triple=aarch64-linux-gnu -cpu=neoverse-v1 -features=+sve2"``; or a mapping of fields.
    Fields given beside it take precedence.

    ``features`` are LLVM feature flags, such as ``("+avx2", "-avx512f")``. ``opt_level`` is 0 to 3;
    1 is for candidates that are compiled once and run a few times: LLVM takes half the time, and
    turns no loop over scalars into one over vectors, which can make such loops five times slower.
    Raises: IRKitError with what was expected, and the nearest name.
    """

    kind: str = "llvm"
    cpu: str = ""
    features: tuple[str, ...] = ()
    triple: str = ""
    opt_level: int = 3

    @classmethod
    def host(cls) -> "Target":
        """Return the machine that this process runs on, whose fields are all empty."""
        return cls()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            self._spread(_fields(self.kind))
        features: object = self.features
        if isinstance(features, (str, list)):
            msgspec.structs.force_setattr(self, "features", _as_features(features))
        for feature in self.features:
            if feature[:1] not in ("+", "-"):
                raise IRKitError(
                    f"feature {feature!r} must begin with + or -", hint="For example '+avx2'."
                )
        if self.opt_level not in range(4):
            raise IRKitError(f"opt_level is {self.opt_level!r}; expected 0 to 3")

    def _spread(self, found: Mapping[str, Any]) -> None:
        """Set the fields that still have their default values."""
        for name, default in _DEFAULTS.items():
            if name == "kind" or getattr(self, name) == default:
                msgspec.structs.force_setattr(self, name, found.get(name, default))

    @property
    def row(self) -> TargetRow | None:
        """Return what the table of targets knows of the processor, if it is there."""
        return find_row(self.triple, self.cpu, self.features)

    @property
    def device(self) -> DeviceRow | None:
        """Return what limits a launch on the device, if the target is one with threads."""
        return find_device(self.kind, self.cpu)


_DEFAULTS: dict[str, Any] = {
    "kind": "llvm",
    "cpu": "",
    "features": (),
    "triple": "",
    "opt_level": 3,
}


def as_target(given: "Target | str | Mapping[str, Any]") -> Target:
    """Return a target, given one, its text, or a mapping of its fields.

    Raises: IRKitError as ``Target`` does.
    """
    return given if isinstance(given, Target) else Target(given)  # pyright: ignore[reportArgumentType] -- __post_init__ takes the mapping apart


def _fields(given: object) -> dict[str, Any]:
    """Return the fields of a target from a text or a mapping."""
    if isinstance(given, str):
        return _of_text(given)
    if not isinstance(given, Mapping):
        raise IRKitError(f"expected a target, its text or a mapping of its fields, found {given!r}")
    found = dict[str, Any]()
    for name, value in given.items():  # pyright: ignore[reportUnknownVariableType]
        key = str(name)  # pyright: ignore[reportUnknownArgumentType]
        if key not in _DEFAULTS:
            raise _unknown("field of a target", key, _DEFAULTS)
        if key in ("cpu", "triple", "kind") and not isinstance(value, str):
            raise IRKitError(f"{key} of a target is {value!r}; expected text")
        found[key] = value
    kind = found.get("kind", "llvm")
    return found if kind in KINDS else {**_of_text(kind), **found, "kind": _of_text(kind)["kind"]}


def _of_text(text: str) -> dict[str, Any]:
    """Read ``llvm -cpu=... -features=...`` or ``raspberry-pi-4``."""
    head, *options = text.split() or [""]
    found = _of_name(head)
    for option in options:
        name, sign, value = option.lstrip("-").partition("=")
        if not option.startswith("-") or not sign:
            raise IRKitError(
                f"{option!r} in the target {text!r} is no option; expected -name=value",
                hint=f"Options are -{', -'.join(list(_OPTIONS)[:4])}.",
            )
        if name not in _OPTIONS:
            raise _unknown("option of a target", name, _OPTIONS)
        field = _OPTIONS[name]
        if field == "opt_level":
            found[field] = int(value) if value.isdecimal() else value
        else:
            found[field] = _as_features(value) if field == "features" else value
    return found


def _of_name(name: str) -> dict[str, Any]:
    if name in KINDS:
        return {"kind": name}
    if name == "host":
        return {"kind": "llvm"}
    for row in TARGET_TABLE:
        if row.name == name:
            fields = {"cpu": row.cpu, "features": row.features, "triple": row.triple}
            return {"kind": "llvm", **fields}
    for device in DEVICE_TABLE:
        if device.name == name:
            return {"kind": device.kind, "cpu": device.cpu}
    rows = [row.name for row in (*TARGET_TABLE, *DEVICE_TABLE) if row.name not in KINDS]
    raise _unknown("target or kind of target", name, [*KINDS, "host", *rows])


def _unknown(what: str, name: object, known: Iterable[str]) -> IRKitError:
    names = list(known)
    near = difflib.get_close_matches(str(name), names, 1, 0.4)
    hint = f"Did you mean {near[0]!r}?" if near else ""
    return IRKitError(f"unknown {what} {name!r}; expected one of {', '.join(names)}", hint=hint)


def _as_features(given: "str | list[str]") -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(str(part) for part in parts if part)
