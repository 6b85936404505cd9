"""Register tiles of reductions that are no product of matrices.

Reading order: axes (those that a tile is made of), tile (its sizes, by closed formulas), window
(those of windows), loops (a tile as schedule primitives),
copies (where what a tile reads is padded).
"""

from irkit.autoschedule.tiles.axes import (
    is_merged as is_merged,
    merge_line as merge_line,
    merge_rows as merge_rows,
    separate_groups as separate_groups,
)
from irkit.autoschedule.tiles.copies import (
    copy_in_parts as copy_in_parts,
    copy_read as copy_read,
)
from irkit.autoschedule.tiles.loops import (
    mark_epilogue as mark_epilogue,
    mark_tile as mark_tile,
    own_loops as own_loops,
    tile_loops as tile_loops,
)
from irkit.autoschedule.tiles.tile import (
    Tile as Tile,
)
from irkit.autoschedule.tiles.window import (
    tile_of as tile_of,
)
