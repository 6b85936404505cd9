"""Parts of graph functions that several tests look at."""

from irkit.graph import GraphFunc, Op


def ops(func: GraphFunc) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]
