"""Put the bodies of functions in the place of their calls.

Before::

    def main(x: f32[4]):
        @function()
        def f(y: f32[4]):
            a: f32[4] = exp(y)
            return a
        b: f32[4] = f(x)
        return b

After::

    def main(x: f32[4]):
        a: f32[4] = exp(x)
        return a
"""

from irkit.core import Function, IRModule, walk
from irkit.graph import GraphFunc, GraphLoop, Invoke, Lambda, inline_calls
from irkit.transform import define_pass


@define_pass(idempotent=True, atomic=True)
def inline_functions(mod: IRModule) -> IRModule:
    """Replace calls of function values, and of graph functions by name, by what they do.

    Functions with fused groups are left alone. A graph function that nothing calls any more goes.
    Raises: IRKitError for recursion, a result that holds a function, or a program that grows too
    large.
    """
    changes: dict[str, Function | None] = {}
    called: set[str] = set()
    for name, func in mod.functions.items():
        if isinstance(func, GraphFunc):
            names = {step.function for step in walk(func.body, Invoke)}
            used = {each for each in names if isinstance(mod.functions.get(each), GraphFunc)}
            groups = list(walk(func.body, Lambda))
            if (used or groups) and not any(("fused", True) in group.attrs for group in groups):
                changes[name] = inline_calls(func, mod)
                called |= used
    after = mod.with_functions(changes)
    funcs = [func for func in after.functions.values() if isinstance(func, GraphFunc)]
    kept = {step.function for func in funcs for step in walk(func.body, (Invoke, GraphLoop))}
    return after.with_functions(dict.fromkeys(called - kept - {"main"}))
