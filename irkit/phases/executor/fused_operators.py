"""Which operators of the graph a kernel call computes, for profiles and reports.

Lowering makes a loop function of each group of operators, and groups with the same loops share one;
so what a call stands for is read from the graph before that, by the name of its result.
"""

from irkit.core import IRModule
from irkit.graph import Apply, Bind, GraphFunc, Lambda, Op, Value


class FusedOperators:
    """Names of values, with the operators that compute each as its graph last had them: fused ones
    in order, such as ``("conv n1", "relu n2")``."""

    def __init__(self) -> None:
        self.by_value: dict[str, tuple[str, ...]] = {}

    def note(self, module: IRModule) -> None:
        """Remember what the graph says now."""
        for func in module.functions.values():
            if isinstance(func, GraphFunc):
                self._note(func)

    def _note(self, func: GraphFunc) -> None:
        groups: dict[Value, Lambda] = {}
        for bind in func.body.bindings:
            match bind.step:
                case Lambda() as group:
                    groups[bind.var] = group
                case Op():
                    self.by_value[bind.var.name] = (_named(bind),)
                case Apply(callee) if callee in groups:
                    inside = groups[callee].body.bindings
                    self.by_value[bind.var.name] = tuple(
                        _named(each) for each in inside if isinstance(each.step, Op)
                    )
                case _:
                    pass


def _named(bind: Bind) -> str:
    assert isinstance(bind.step, Op)
    node = "" if bind.span is None else bind.span.name
    return f"{bind.step.name} {node}".rstrip()
