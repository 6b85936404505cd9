"""What a candidate costs, without running it: closed formulas, and what they got wrong so far.

Reading order: tile_cycles (cycles of a register tile; those of products are the automatic
schedule's own), instruction_mix (features of assembly), residual (a model that learns the rest from
measurements, if lightgbm is there).
"""

from irkit.tune.cost.instruction_mix import (
    MIX_VERSION as MIX_VERSION,
    instruction_mix as instruction_mix,
    mix_row as mix_row,
)
from irkit.tune.cost.residual import (
    Residual as Residual,
    rank_correlation as rank_correlation,
)
from irkit.tune.cost.tile_cycles import (
    TileWork as TileWork,
    cycles_of_pointwise as cycles_of_pointwise,
    cycles_of_tile as cycles_of_tile,
    work_of_block as work_of_block,
)
