"""What a search can choose: the decisions about a function, and the schedule that they make.

Reading order: sketch (a way to schedule, with knobs), product_sketches, tile_sketch,
pointwise_sketch; spaces (of a function nobody scheduled, of a template), sampled_space (of a
schedule that samples), task; draws (settings of a sketch), moves (draw, mutate and cross
decisions).
"""

from irkit.tune.space.moves import (
    crossed as crossed,
    mutated as mutated,
    sampled as sampled,
    started as started,
)
from irkit.tune.space.sampled_space import (
    SampledSpace as SampledSpace,
)
from irkit.tune.space.sketch import (
    Group as Group,
    Sketch as Sketch,
)
from irkit.tune.space.spaces import (
    Candidate as Candidate,
    RuleSpace as RuleSpace,
    Space as Space,
    TemplateSpace as TemplateSpace,
    TraceSpace as TraceSpace,
)
from irkit.tune.space.task import (
    Task as Task,
    hash_of as hash_of,
    resumed_task as resumed_task,
    task as task,
)
