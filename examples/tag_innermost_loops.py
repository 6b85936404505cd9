"""Mark the loops that contain no other loop: a whole pass in ten lines.

Before::

    def f(A: f32[4, 8], C: f32[4, 8]):
        for i in serial(0, 4):
            for j in serial(0, 8):
                C[i, j] = A[i, j]

After::

    def f(A: f32[4, 8], C: f32[4, 8]):
        for i in serial(0, 4):
            for j in serial(0, 8, innermost=True):
                C[i, j] = A[i, j]

Insert it anywhere: ``DEFAULT.insert(tag_innermost_loops, phase=1)`` in Python, and
``irkit compile model.onnx --pass '1:examples.tag_innermost_loops:tag_innermost_loops'`` in a shell.
"""

from irkit.core import any_node, rewrite
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def tag_innermost_loops(func: PrimFunc, *, tag: str = "innermost") -> PrimFunc:
    """Mark every innermost loop with an attribute that later passes can look for."""

    def mark(loop: For) -> For | None:
        if any_node(loop.body, For) or (tag, True) in loop.attrs:
            return None
        return loop.replace(attrs=(*loop.attrs, (tag, True)))

    return rewrite(func, mark, on=For)


if __name__ == "__main__":
    from irkit import te
    from irkit.phases import DEFAULT, lower

    a = te.placeholder((16, 16), name="A")
    func = te.create_prim_func([a, te.compute((16, 16), lambda i, j: a[j, i] * 2.0, name="C")])
    pipeline = DEFAULT.insert(tag_innermost_loops, phase=1)
    print(lower(func, pipeline=pipeline, stop_after=1).script())
