"""Random values of the same few elements, side by side: many operations for the cost of one
program.

Programs of stages move, reduce and join; a wrong operation on two numbers shows sooner where
nothing else happens to them.
"""

from irkit import te
from irkit.fuzz.generators.stages.stages import Stages
from irkit.fuzz.generators.stages.theme import Theme
from irkit.fuzz.generators.stages.values import Number, Values
from irkit.fuzz.picks import Picks
from irkit.ir import Expr

_EXTENTS = (17, 8, 33)


def value_tensors(picks: Picks, theme: Theme) -> list[te.Tensor]:
    """Make the parameters of a function of 2 to 4 results that only read its two arrays."""
    s = Stages(picks, theme)
    shape, dtype = (picks.pick(_EXTENTS),), picks.pick(theme.dtypes)
    given = [s.input(1, shape=shape, dtype=dtype)]
    given.append(s.input(1, shape=shape, dtype=dtype if picks.below(4) else ""))
    keeps_signs = picks.below(3) > 0

    def value(i: Expr) -> Expr:
        reads = [Number(each.tensor[i], each.bound) for each in given]
        values = Values(s, (i,), reads, keeps_signs=keeps_signs)
        return values.value(dtype if picks.below(4) else "bool", 1 + picks.below(2)).expr

    results: list[te.Tensor] = []
    for at in range(2 + picks.below(3)):
        made = te.compute(shape, value, name=f"S{at}")
        assert isinstance(made, te.Tensor)
        results.append(made)
    return [*(each.tensor for each in given), *results]
