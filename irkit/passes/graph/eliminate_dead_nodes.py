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
from irkit.graph import Body, GraphFunc, live_values
from irkit.transform import define_pass


@define_pass(idempotent=True)
def eliminate_dead_nodes(func: GraphFunc) -> GraphFunc:
    """Remove every binding that the result does not depend on, in bodies of bindings too."""
    needed = live_values(func)

    def without_dead(body: Body) -> Body:
        kept = tuple(bind for bind in body.bindings if bind.var in needed)
        return body if len(kept) == len(body.bindings) else body.replace(bindings=kept)

    return rewrite(func, without_dead, on=Body)
