"""What each graph pass does, and what it leaves alone."""

from irkit.graph import GraphFunc, Op


def ops(func: GraphFunc) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]
