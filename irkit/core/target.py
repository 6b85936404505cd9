"""Compilation targets as data. Detecting the host machine is the business of code generation."""

import msgspec

from irkit.core.errors import IRKitError

KINDS = ("llvm",)


class Target(msgspec.Struct, frozen=True):
    """What to generate code for; empty fields mean the host machine's value.

    ``features`` are LLVM feature flags, such as ``("+avx2", "-avx512f")``. ``opt_level`` is 0 to 3;
    1 is for candidates that are compiled once and run a few times: LLVM takes half the time, and
    turns no loop over scalars into one over vectors, which can make such loops five times slower.
    """

    kind: str = "llvm"
    cpu: str = ""
    features: tuple[str, ...] = ()
    triple: str = ""
    opt_level: int = 3

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise IRKitError(
                f"unknown target kind {self.kind!r}; expected one of {', '.join(KINDS)}"
            )
        if isinstance(self.features, str):
            msgspec.structs.force_setattr(
                self, "features", tuple(part for part in self.features.split(",") if part)
            )
        for feature in self.features:
            if feature[:1] not in ("+", "-"):
                raise IRKitError(
                    f"feature {feature!r} must begin with + or -", hint="For example '+avx2'."
                )
        if self.opt_level not in range(4):
            raise IRKitError(f"opt_level is {self.opt_level!r}; expected 0 to 3")


def as_target(given: "Target | str") -> Target:
    """Return a target, given one or the name of its kind."""
    return given if isinstance(given, Target) else Target(given)
