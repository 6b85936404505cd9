"""Why two operators were not fused, in the names of the user's model, and what would change it."""

from collections.abc import Sequence

from irkit.graph import Bind, Op, TensorType, op_spec, written_type


def name_in_model(bind: Bind) -> str:
    """Return the name of the node of the model that a binding comes from, or its own name; and its
    operator, since a node can become several."""
    span = bind.span
    name = span.name if span is not None and span.kind == "onnx" else bind.var.name
    return f"'{name}' ({_operator(bind)})"


def why_apart(
    source: Bind, users: Sequence[Bind], meeting: Bind | None, *, together: int, max_ops: int
) -> str:
    """Return why the group of an operator did not join that of the operator it leads to.

    ``users`` read the result; all paths from it go through ``meeting``, if there is such an
    operator. ``together`` is the number of operators that one group would have.
    """
    name = name_in_model(source)
    if meeting is None:
        read = " and ".join(dict.fromkeys(name_in_model(user) for user in users))
        return (
            f"{name} is not fused with {read}: its result is needed elsewhere too, so it has to be "
            "in memory; let one operator use it, or compute it again for each"
        )
    start = f"{name} is not fused with {name_in_model(meeting)}: "
    if together > max_ops:
        return start + f"one kernel would have {together} operators, max_ops is {max_ops}"
    return start + _reason(source, meeting)


def _reason(source: Bind, meeting: Bind) -> str:
    kind, next_kind = _kind(source), _kind(meeting)
    if "opaque" in (kind, next_kind):
        whole = source if kind == "opaque" else meeting
        return f"{name_in_model(whole)} always has a kernel of its own"
    if kind == "reduction":
        return (
            "a sum has to be complete before the next operator starts; reduce after the other "
            "operators where the model allows it"
        )
    if next_kind == "complex" and kind == "complex":
        return "each of two products or windows needs a kernel of its own"
    if next_kind == "complex":
        return (
            f"{name_in_model(meeting)} reads each element several times, so it would be computed "
            "again each time; move it behind, or into the weights where it is by a constant"
        )
    if kind == "complex" and next_kind in ("injective", "reduction"):
        return (
            f"behind a {_operator(source)} only operators on its own elements are fused, and "
            f"{_operator(meeting)} moves or sums them; apply it to the operand, or later"
        )
    shapes = [_shape(source), _shape(meeting)]
    if shapes[0] != shapes[1]:
        return (
            f"its result {shapes[0]} is broadcast to {shapes[1]}, and would be computed again for "
            "each copy; give both one shape"
        )
    return "an operator between them cannot be in one kernel with both"


def _kind(bind: Bind) -> str:
    return op_spec(bind.step.name).kind if isinstance(bind.step, Op) else "opaque"


def _operator(bind: Bind) -> str:
    return bind.step.name if isinstance(bind.step, Op) else type(bind.step).__name__


def _shape(bind: Bind) -> str:
    return written_type(bind.var.type) if isinstance(bind.var.type, TensorType) else "a tuple"
