"""Which passes run, in which order, and why. Reading order: default (loops), graph, legalize,
lowering, starting, building (kernels), calls, plan and compiling (models), placing, switches,
command."""

from irkit.phases.build import (
    build as build,
)
from irkit.phases.compile import (
    compile as compile,
    for_target as for_target,
)
from irkit.phases.default import (
    DEFAULT as DEFAULT,
    ORDER as ORDER,
)
from irkit.phases.graph import (
    GRAPH as GRAPH,
)
from irkit.phases.legalize import (
    LEGALIZE as LEGALIZE,
)
from irkit.phases.lower import (
    lower as lower,
    trace as trace,
)
from irkit.phases.placement import (
    Flow as Flow,
)
from irkit.phases.resume import (
    pipeline_for as pipeline_for,
)
