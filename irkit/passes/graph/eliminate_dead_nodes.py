"""Remove bindings whose values are not used.

Before::

    def main(x: f32[4]):
        a: f32[4] = exp(x)
        b: f32[4] = relu(x)
        return b

After::

    def main(x: f32[4]):
        b: f32[4] = relu(x)
        return b
"""

from irkit.core import rewrite
from irkit.graph import Body, GraphFunc, Value, bindings_of, bodies, operands
from irkit.transform import define_pass


@define_pass(idempotent=True)
def eliminate_dead_nodes(func: GraphFunc) -> GraphFunc:
    """Remove every binding that the result does not depend on, in bodies of bindings too."""
    needed = _needed(func)

    def without_dead(body: Body) -> Body:
        kept = tuple(bind for bind in body.bindings if bind.var in needed)
        return body if len(kept) == len(body.bindings) else body.replace(bindings=kept)

    return rewrite(func, without_dead, on=Body)


def _needed(func: GraphFunc) -> set[Value]:
    """Return the values that the result depends on; steps have no effects, so no others matter."""
    bound = bindings_of(func)
    found: set[Value] = set()
    waiting = [func.body.result]
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.add(value)
        if value in bound:
            step = bound[value].step
            waiting += operands(step)
            waiting += [body.result for body in bodies(step)]
    return found
