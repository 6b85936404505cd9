"""Tables of a model's C file: inputs and outputs, dimensions, state, and texts of errors."""

from collections.abc import Sequence

from irkit.codegen.executor_plan import (
    ExecutorPlan,
    Repeat,
    Size,
    SizeStep,
    TensorSpec,
    iteration_of,
    refusal,
)
from irkit.codegen.run_refusals import undefined_state
from irkit.core import IRKitError
from irkit.ir import dtype as as_dtype

_CODES = {"i": 0, "u": 1, "f": 2, "bf": 4, "bool": 6}
_LONGEST = 120
"""Letters of the text of a computed size."""


def tables(plan: ExecutorPlan, name: str) -> str:
    """Return the tables of a model.

    Raises: IRKitError for an input or output of a type that DLPack has no number for.
    """
    return "\n".join(
        [
            _tensors(name, "inputs", plan.inputs, plan),
            _tensors(name, "outputs", plan.outputs, plan),
            _places(plan),
            _dimensions(plan, name),
            _states(plan, name),
            _calls(plan),
            _rooms(plan),
            _measured(plan),
        ]
    )


def quoted(text: str) -> str:
    """Return a string of C, with other characters as octal bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{plain}"'


def size_texts(plan: ExecutorPlan) -> dict[str, str]:
    """Return what each computed size is in terms of dimensions; its name if that is long."""
    found = {dim.name: dim.name for dim in plan.dims}
    found |= {size.name: size.name for size in plan.measured}
    for step in (*plan.sizes, *(step for size in plan.measured for step in size.steps)):
        text = _text(step, found)
        found[step.name] = text if len(text) <= _LONGEST else step.name
    return found


def _text(step: SizeStep, known: dict[str, str]) -> str:
    a, b = (str(each) if isinstance(each, int) else known[each] for each in (step.a, step.b))
    if step.op in ("extent", "check"):
        return a
    return f"{step.op}({a}, {b})" if step.op in ("min", "max") else f"({a} {step.op} {b})"


def _tensors(name: str, which: str, specs: Sequence[TensorSpec], plan: ExecutorPlan) -> str:
    """Return the table of inputs or outputs."""
    shapes, rows, texts = list[str](), list[str](), size_texts(plan)
    for number, spec in enumerate(specs):
        dims = ", ".join("-1" if isinstance(dim, str) else str(dim) for dim in spec.shape) or "0"
        symbols = ", ".join(
            quoted(texts[dim]) if isinstance(dim, str) else "NULL" for dim in spec.shape
        )
        place = f"irkit_{which}_{number}"
        shapes.append(f"static const int64_t {place}[] = {{{dims}}};")
        shapes.append(f"static const char *const {place}_symbols[] = {{{symbols or 'NULL'}}};")
        ndim = len(spec.shape)
        rows.append(
            f"    {{{quoted(spec.name)}, {_type(spec)}, {ndim}, {place}, {place}_symbols}},"
        )
    rows = rows or ['    {"", {0, 0, 0}, 0, NULL, NULL},']
    head = f"static const {name}_tensor irkit_{which}[] = {{"
    return "\n".join([*shapes, head, *rows, "};"])


def _places(plan: ExecutorPlan) -> str:
    """Return, for inputs and then outputs, the place of each dimension in the table of sizes; -1
    for a number."""
    index = {size: at for at, size in enumerate(plan.size_names)}
    lines, names = list[str](), list[str]()
    for number, spec in enumerate((*plan.inputs, *plan.outputs)):
        found: list[Size] = [
            index.get(str(d), -1) if isinstance(d, str) else -1 for d in spec.shape
        ]
        listed = ", ".join(map(str, found)) or "-1"
        names.append(f"irkit_places_{number}")
        lines.append(f"static const int32_t {names[-1]}[] = {{{listed}}};")
    listed = ", ".join(names) or "NULL"
    return "\n".join([*lines, f"static const int32_t *const irkit_places[] = {{{listed}}};"])


def _dimensions(plan: ExecutorPlan, name: str) -> str:
    rows = [f"    {{{quoted(dim.name)}, {dim.least}, {dim.most}}}," for dim in plan.dims]
    texts = [f"    {quoted(refusal(step))}," for step in plan.sizes]
    return "\n".join(
        [
            f"static const {name}_dim irkit_dims[] = {{",
            *(rows or ['    {"", 0, 0},']),
            "};",
            "static const char *const irkit_refusals[] = {",
            *(texts or ['    "",']),
            "};",
        ]
    )


def _states(plan: ExecutorPlan, name: str) -> str:
    rows = [f"    {{{p.param}, {p.result}, {p.axis}, {p.capacity}}}," for p in plan.state]
    head = f"static const {name}_state irkit_states[] = {{"
    return "\n".join([head, *(rows or ["    {-1, -1, 0, 0},"]), "};"])


def _calls(plan: ExecutorPlan) -> str:
    """Return what messages say about each call."""
    lines, rows, places = list[str](), list[str](), dict[str, str]()
    for kernel, messages in plan.messages.items():
        places[kernel] = f"irkit_stops_{len(places)}"
        listed = ", ".join(map(quoted, messages))
        lines.append(f"static const char *const {places[kernel]}[] = {{{listed}}};")
    for number, call in enumerate(plan.calls):
        stops, state = places.get(call.kernel, "NULL"), quoted(undefined_state(plan, number))
        rows.append(f"    {{{quoted(call.node or call.kernel)}, {stops}, {state}}},")
    head = "static const struct { const char *node; const char *const *stops; const char *state; }"
    head += " irkit_calls[] = {"
    return "\n".join([*lines, head, *(rows or ['    {"", NULL, ""},']), "};"])


def _rooms(plan: ExecutorPlan) -> str:
    """Return, for each output whose size the run finds, the room that a call gives it: for each
    dimension its place in the table of sizes, or a number as -1 - number."""
    index = {size: at for at, size in enumerate(plan.size_names)}
    lines, names = list[str](), list[str]()
    for number in range(len(plan.outputs)):
        if number not in plan.capacities:
            names.append("NULL")
            continue
        dims = plan.capacities[number]
        listed = ", ".join(str(index[d] if isinstance(d, str) else -1 - d) for d in dims)
        names.append(f"irkit_rooms_{number}")
        lines.append(f"static const int64_t {names[-1]}[] = {{{listed}}};")
    listed = ", ".join(names) or "NULL"
    return "\n".join([*lines, f"static const int64_t *const irkit_rooms[] = {{{listed}}};"])


def _measured(plan: ExecutorPlan) -> str:
    """Return what messages say about each dimension that the run finds: its place in the table of
    sizes and the room, as above; the steps that depend on it; and the loops around it."""
    index = {size: at for at, size in enumerate(plan.size_names)}
    lines, rows, around = list[str](), list[str](), list[str]()
    for number, size in enumerate(plan.measured):
        texts = [f"with the rows of {size.what}, {refusal(step)}" for step in size.steps]
        listed = ", ".join(map(quoted, texts)) or "NULL"
        lines.append(f"static const char *const irkit_refused_{number}[] = {{{listed}}};")
        most = index[size.most] if isinstance(size.most, str) else -1 - size.most
        state = quoted(undefined_state(plan, size.after))
        rows.append(
            f"    {{{index[size.name]}, {most}, {quoted(size.what)}, irkit_refused_{number}, "
            f"{state}}},"
        )
        for loop in reversed(plan.measuring_loops):
            region = plan.regions[loop]
            if isinstance(region, Repeat) and region.begin <= size.after < region.end:
                at = index[iteration_of(loop)]
                around.append(f"    {{{number}, {at}, {quoted(region.name)}}},")
    return "\n".join(
        [
            *lines,
            "static const struct {",
            "    int32_t at;",
            "    int64_t most;",
            "    const char *what;",
            "    const char *const *refused;",
            "    const char *state;",
            "} irkit_measured[] = {",
            *(rows or ['    {0, 0, "", NULL, ""},']),
            "};",
            "static const struct { int32_t measured, at; const char *loop; } irkit_around[] = {",
            *around,
            '    {-1, 0, ""},',
            "};",
        ]
    )


def _type(spec: TensorSpec) -> str:
    try:
        dtype = as_dtype(spec.dtype)
    except IRKitError:
        raise IRKitError(
            f"{spec.name!r} is of type {spec.dtype}, which the C interface does not have",
            hint="Convert it in the model, or run the model from Python.",
        ) from None
    return f"{{{_CODES[dtype.kind]}, {max(dtype.bits, 8)}, 1}}"
