"""Profiles: how much a check of a pass does at the desk, in CI, and over night."""

import os

import msgspec

from irkit.core import IRKitError


class Profile(msgspec.Struct, frozen=True):
    """How much to check: ``times`` multiplies the examples and the seconds that a test asks for;
    ``derandomize`` draws the same programs in every run; ``native`` runs each case in another
    process first, and there as native code too.

    Units: ``seconds`` for one case.
    """

    name: str
    times: int = 1
    derandomize: bool = False
    native: bool = False
    seconds: float = 60.0


PROFILES = {
    each.name: each
    for each in (
        Profile("dev"),
        Profile("ci", derandomize=True),
        Profile("long", times=20, native=True),
    )
}


def profile_of(name: str = "") -> Profile:
    """Return a profile: the one named, else that of IRKIT_PROFILE, else ``ci`` where CI is set."""
    name = name or os.environ.get("IRKIT_PROFILE", "") or ("ci" if os.environ.get("CI") else "dev")
    if name not in PROFILES:
        raise IRKitError(f"there is no profile {name!r}; there are: {', '.join(PROFILES)}")
    return PROFILES[name]
