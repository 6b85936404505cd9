"""Attention: a product, a softmax and a product, computed for a tile of queries at a time.

Reading order: recognise (the stages that belong together), tile (its sizes, by closed formulas),
loops (the schedule).
"""

from irkit.autoschedule.attention.loops import (
    schedule_attention as schedule_attention,
)
from irkit.autoschedule.attention.recognise import (
    AttentionStages as AttentionStages,
    attention_of as attention_of,
    stages_of_attention as stages_of_attention,
)
from irkit.autoschedule.attention.tile import (
    AttentionTile as AttentionTile,
    attention_tile as attention_tile,
)
