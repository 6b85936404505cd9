"""What irkit's own passes over loops are about, so that campaigns draw programs for them too."""

from functools import cache

from irkit.fuzz.generators.aimed.aim import PassAim, aim_of
from irkit.ir import PrimFunc
from irkit.passes import BUILTIN
from irkit.transform import AnyPass


def own_passes() -> tuple[AnyPass, ...]:
    """Return the passes over loop functions that come with irkit."""
    return tuple(p for p in BUILTIN if p.level is PrimFunc)


@cache
def own_aims() -> tuple[PassAim, ...]:
    """Return what each of these passes is about."""
    return tuple(map(aim_of, own_passes()))
