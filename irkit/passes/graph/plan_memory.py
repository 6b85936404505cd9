"""Record the place of every value in memory, as attributes of the function for the executor.

Before::

    def main(x: f32[16]):
        a: f32[16] = exp(x)
        b: f32[16] = exp(a)
        c: f32[16] = exp(b)
        d: f32[16] = exp(c)
        return d

After::

    @attrs(arena_size=128)
    @attrs(slot_a=((0, 0, 64, 0, 1),))
    @attrs(slot_b=((0, 64, 64, 1, 2),))
    @attrs(slot_c=((0, 0, 64, 2, 3),))
    def main(x: f32[16]):
        a: f32[16] = exp(x)
        b: f32[16] = exp(a)
        c: f32[16] = exp(b)
        d: f32[16] = exp(c)
        return d
"""

from irkit.graph import GraphFunc, memory_plan, without_plan
from irkit.transform import define_pass


@define_pass(idempotent=True)
def plan_memory(func: GraphFunc) -> GraphFunc:
    """Plan the arena and record it as attributes ``arena_size`` and ``slot_NAME``.

    A slot holds item (of a tuple), offset and size in bytes, first and last binding.
    """
    attrs = (*without_plan(func.attrs), *memory_plan(func).as_attrs())
    return func if attrs == func.attrs else func.replace(attrs=attrs)
