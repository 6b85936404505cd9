"""The executor: one function that calls the kernels of a model in order, over a planned arena, and
one that computes the sizes which are only known at the call."""

from collections.abc import Sequence

from irkit.codegen.executor_plan import (
    Branch,
    Copy,
    ExecutorPlan,
    KernelCall,
    Region,
    Repeat,
    Size,
    SizeStep,
    TensorPlace,
    control_flow,
    iteration_of,
)
from irkit.codegen.llvm.builder.types import quoted, symbol

ENTRY, SIZES = "irkit_run", "irkit_sizes"
_TABLES = {"input": "inputs", "output": "outputs", "param": "params", "arena": "arena"}
_CHECKED = {"+": "sadd", "-": "ssub", "*": "smul"}


def emit_executor(plan: ExecutorPlan) -> str:
    """Return the executor as LLVM IR.

    It is ``i64 @irkit_run(ptr inputs, ptr outputs, ptr params, ptr arena, ptr sizes)`` and returns
    0, or the number of the call that failed, from 1, in the upper 32 bits and the status of the
    kernel in the lower; less than 0, it is the negative of what ``measured_refusal`` takes.
    ``sizes`` is a table of i64, in the order of ``plan.size_names``, of which the caller fills in
    the dimensions and ``i64 @irkit_sizes(ptr sizes)`` the rest, but for what the run measures,
    which the executor stores there; that returns 0, or the number of the step, from 1, that refuses
    the call.
    """
    kernels = {call.kernel: call for call in plan.calls}
    lines = [_declaration(call) for call in kernels.values()]
    lines.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    lines.append("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    lines += [f"declare i64 @llvm.s{each}.i64(i64, i64)" for each in ("min", "max")]
    checked = [f"{kind}.with.overflow" for kind in _CHECKED.values()]
    lines += [f"declare {{i64, i1}} @llvm.{each}.i64(i64, i64)" for each in checked]
    params = ", ".join(f"ptr %{name}" for name in (*_TABLES.values(), "sizes"))
    lines.append(f"define i64 @{ENTRY}({params}) {{")
    lines.append("entry:")
    numbers = _loaded_sizes(plan, lines)
    places = _addresses(plan, numbers, lines)
    for what, number in control_flow(plan):
        if what == "call":
            lines += _call(plan.calls[number], number, numbers, places)
        elif what == "measure":
            lines += _measured(plan, number, numbers, places)
        else:
            lines += _region(plan.regions[number], what, number, numbers, places)
            if what == "loop" and number in plan.measuring_loops:
                at = plan.size_names.index(iteration_of(number))
                lines += _stored_size(f"%i{number}", at)
    lines += [_copied(copy, numbers, places) for copy in plan.copies]
    lines += ["  ret i64 0", "}", *(_size_program(plan) if plan.dims else [])]
    return "\n".join([*lines, ""])


def _call(
    call: KernelCall, number: int, numbers: "_Numbers", places: dict[TensorPlace, str]
) -> list[str]:
    """Call a kernel, and leave with its number and status if it failed."""
    scalars, extents = ([f"i64 {numbers[s]}" for s in s] for s in (call.scalars, call.extents))
    buffers = [f"ptr {places[place]}" for place in call.args]
    args = ", ".join([*scalars, *buffers, *extents, *["ptr null"] * call.records])
    return [
        f"  %s{number} = call i32 {quoted(symbol(call.kernel))}({args})",
        f"  %f{number} = icmp ne i32 %s{number}, 0",
        f"  br i1 %f{number}, label %fail{number}, label %next{number}",
        f"fail{number}:",
        f"  %w{number} = zext i32 %s{number} to i64",
        f"  %c{number} = or i64 %w{number}, {(number + 1) << 32}",
        f"  ret i64 %c{number}",
        f"next{number}:",
    ]


def _measured(
    plan: ExecutorPlan, number: int, numbers: "_Numbers", places: dict[TensorPlace, str]
) -> list[str]:
    """Bind a dimension to the number that a kernel has made, and compute what depends on it."""
    size, name = plan.measured[number], f"%d{number}"
    at = plan.size_names.index(size.name)
    numbers[size.name] = name
    lines = [
        f"  {name} = load i64, ptr {places[size.count]}",
        *_stored_size(name, at),
        f"  {name}.most = icmp ugt i64 {name}, {numbers[size.most]}",
        *_refusing(f"{name}.most", name, number + 1),
    ]
    for place, step in enumerate(size.steps, 1):
        refuse = _refusing(f"{name}.{place}.bad", f"{name}.{place}", number + 1 | place << 32)
        lines += _size_step(step, numbers[step.a], numbers[step.b], f"{name}.{place}", refuse)
        lines += _stored_size(f"{name}.{place}", at + place)
        numbers[step.name] = f"{name}.{place}"
    return lines


def _refusing(bad: str, name: str, status: int) -> list[str]:
    """Leave with the negative of a status where a bool is true."""
    label = name[1:]
    return [
        f"  br i1 {bad}, label %refuse.{label}, label %go.{label}",
        f"refuse.{label}:",
        f"  ret i64 {-status}",
        f"go.{label}:",
    ]


def _stored_size(name: str, at: int) -> list[str]:
    return [
        f"  {name}.at = getelementptr i64, ptr %sizes, i64 {at}",
        f"  store i64 {name}, ptr {name}.at",
    ]


def _copied(copy: Copy, numbers: "_Numbers", places: dict[TensorPlace, str]) -> str:
    return (
        f"  call void @llvm.memcpy.p0.p0.i64(ptr {places[copy.to]}, ptr {places[copy.source]}, "
        f"i64 {numbers[copy.size]}, i1 false)"
    )


def _region(
    region: Region, what: str, number: int, numbers: "_Numbers", places: dict[TensorPlace, str]
) -> list[str]:
    """Begin a branch or loop, change sides, or end it."""
    if isinstance(region, Branch):
        if what == "if":
            go = _is_true(region.cond, f"%b{number}", places)
            return [*go, f"  br i1 %b{number}, label %then{number}, label %else{number}",
                    f"then{number}:"]  # fmt: skip
        return [f"  br label %end{number}", f"{what}{number}:"]
    at = places[region.number]
    if what == "loop":
        lines = [_copied(copy, numbers, places) for copy in region.enter]
        lines.append(f"  store i64 0, ptr {at}")
        for k, row in enumerate(region.rows):
            size = f"%z{number}.{k}"
            lines.append(f"  {size} = mul i64 {numbers[row.size]}, {numbers[row.rows]}")
            lines.append(
                f"  call void @llvm.memset.p0.i64(ptr {places[row.to]}, i8 0, i64 {size}, i1 false)"
            )
        lines.append(f"  %m{number} = load i64, ptr {places[region.count]}")
        most = f"%m{number}"
        for k, row in enumerate(region.rows):
            least = f"%m{number}.{k}"
            lines.append(
                f"  {least} = call i64 @llvm.smin.i64(i64 {most}, i64 {numbers[row.rows]})"
            )
            most = least
        return [
            *lines,
            f"  br label %head{number}",
            f"head{number}:",
            f"  %i{number} = load i64, ptr {at}",
            f"  %l{number} = icmp slt i64 %i{number}, {most}",
            *_is_true(region.cond, f"%b{number}", places),
            f"  %go{number} = and i1 %l{number}, %b{number}",
            f"  br i1 %go{number}, label %body{number}, label %end{number}",
            f"body{number}:",
        ]
    lines = [_copied(copy, numbers, places) for copy in region.carry]
    for k, row in enumerate(region.rows):
        offset, to = f"%o{number}.{k}", f"%r{number}.{k}"
        lines += [
            f"  {offset} = mul i64 %i{number}, {numbers[row.size]}",
            f"  {to} = getelementptr i8, ptr {places[row.to]}, i64 {offset}",
            f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {places[row.source]}, "
            f"i64 {numbers[row.size]}, i1 false)",
        ]
    return [
        *lines,
        f"  %j{number} = add i64 %i{number}, 1",
        f"  store i64 %j{number}, ptr {at}",
        f"  br label %head{number}",
        f"end{number}:",
    ]


def _is_true(place: TensorPlace, name: str, places: dict[TensorPlace, str]) -> list[str]:
    """Load a bool scalar."""
    return [
        f"  {name}.byte = load i8, ptr {places[place]}",
        f"  {name} = icmp ne i8 {name}.byte, 0",
    ]


class _Numbers(dict[Size, str]):
    """The operands that stand for sizes; a number stands for itself."""

    def __missing__(self, size: Size) -> str:
        assert isinstance(size, int), f"nothing computes the size {size!r}"
        return str(size)


def _declaration(call: KernelCall) -> str:
    kinds = ["i64"] * len(call.scalars) + ["ptr"] * len(call.args)
    kinds += ["i64"] * len(call.extents) + ["ptr"] * call.records
    return f"declare i32 {quoted(symbol(call.kernel))}({', '.join(kinds)})"


def _loaded_sizes(plan: ExecutorPlan, lines: list[str]) -> _Numbers:
    """Load the sizes that calls and places use."""
    used = {size for call in plan.calls for size in (*call.scalars, *call.extents)}
    used |= {place.at for place in _places(plan)} | {copy.size for copy in _copies(plan)}
    used |= {size for loop in _loops(plan) for row in loop.rows for size in (row.size, row.rows)}
    used |= {step for each in plan.measured for step in (each.most, *_operands(each.steps))}
    found = _Numbers()
    for at, name in enumerate(plan.size_names[: len(plan.dims) + len(plan.sizes)]):
        if name in used:
            found[name] = f"%n{at}"
            lines.append(f"  %n{at}.at = getelementptr i64, ptr %sizes, i64 {at}")
            lines.append(f"  %n{at} = load i64, ptr %n{at}.at")
    return found


def _operands(steps: Sequence[SizeStep]) -> list[Size]:
    return [size for step in steps for size in (step.a, step.b)]


def _loops(plan: ExecutorPlan) -> list[Repeat]:
    return [region for region in plan.regions if isinstance(region, Repeat)]


def _copies(plan: ExecutorPlan) -> list[Copy]:
    """Return all copies, also those of loops."""
    inside = [copy for loop in _loops(plan) for copy in (*loop.enter, *loop.carry)]
    return [*plan.copies, *inside]


def _places(plan: ExecutorPlan) -> list[TensorPlace]:
    used = [place for call in plan.calls for place in call.args]
    used += [region.cond for region in plan.regions] + [each.count for each in plan.measured]
    for loop in _loops(plan):
        used += [loop.number, loop.count]
        used += [place for row in loop.rows for place in (row.to, row.source)]
    return used + [place for copy in _copies(plan) for place in (copy.to, copy.source)]


def _addresses(plan: ExecutorPlan, numbers: _Numbers, lines: list[str]) -> dict[TensorPlace, str]:
    """Compute every address once, at the start."""
    names: dict[TensorPlace, str] = {}
    for number, place in enumerate(dict.fromkeys(_places(plan))):
        name = f"%{place.kind}.{number}"
        table = _TABLES[place.kind]
        if place.kind in ("param", "arena"):
            lines.append(f"  {name} = getelementptr i8, ptr %{table}, i64 {numbers[place.at]}")
        else:
            lines.append(f"  {name}.at = getelementptr ptr, ptr %{table}, i64 {place.at}")
            lines.append(f"  {name} = load ptr, ptr {name}.at")
        names[place] = name
    return names


def _size_program(plan: ExecutorPlan) -> list[str]:
    """Return the function that computes the sizes."""
    names = _Numbers()
    lines = [f"define i64 @{SIZES}(ptr %sizes) {{", "entry:"]
    for at, dim in enumerate(plan.dims):
        names[dim.name] = f"%n{at}"
        lines.append(f"  %n{at}.at = getelementptr i64, ptr %sizes, i64 {at}")
        lines.append(f"  %n{at} = load i64, ptr %n{at}.at")
    for number, step in enumerate(plan.sizes, 1):
        at = len(plan.dims) + number - 1
        refuse = [
            f"  br i1 %n{at}.bad, label %bad{number}, label %good{number}",
            f"bad{number}:",
            f"  ret i64 {number}",
            f"good{number}:",
        ]
        lines += _size_step(step, names[step.a], names[step.b], f"%n{at}", refuse)
        names[step.name] = f"%n{at}"
        lines += _stored_size(f"%n{at}", at)
    return [*lines, "  ret i64 0", "}"]


def _size_step(step: SizeStep, a: str, b: str, name: str, refuse: Sequence[str]) -> Sequence[str]:
    """Compute one size; the lines ``refuse`` leave if ``name.bad`` is true."""
    if step.op in _CHECKED:
        function = f"@llvm.{_CHECKED[step.op]}.with.overflow.i64"
        return [
            f"  {name}.pair = call {{i64, i1}} {function}(i64 {a}, i64 {b})",
            f"  {name} = extractvalue {{i64, i1}} {name}.pair, 0",
            f"  {name}.bad = extractvalue {{i64, i1}} {name}.pair, 1",
            *refuse,
        ]
    if step.op in ("extent", "check"):
        return [f"  {name} = add i64 {a}, 0", f"  {name}.bad = icmp slt i64 {a}, 0", *refuse]
    if step.op == "//":
        return _floor_division(a, b, name, refuse)
    return [f"  {name} = call i64 @llvm.s{step.op}.i64(i64 {a}, i64 {b})"]


def _floor_division(a: str, b: str, name: str, refuse: Sequence[str]) -> Sequence[str]:
    """Divide, rounding down; a quotient that does not fit refuses the call."""
    return [
        f"  {name}.zero = icmp eq i64 {b}, 0",
        f"  {name}.minus = icmp eq i64 {b}, -1",
        f"  {name}.least = icmp eq i64 {a}, {-(1 << 63)}",
        f"  {name}.bad = and i1 {name}.minus, {name}.least",
        *refuse,
        f"  {name}.by = select i1 {name}.zero, i64 1, i64 {b}",
        f"  {name}.q = sdiv i64 {a}, {name}.by",
        f"  {name}.r = srem i64 {a}, {name}.by",
        f"  {name}.rest = icmp ne i64 {name}.r, 0",
        f"  {name}.x = xor i64 {name}.r, {name}.by",
        f"  {name}.apart = icmp slt i64 {name}.x, 0",
        f"  {name}.down = and i1 {name}.rest, {name}.apart",
        f"  {name}.less = zext i1 {name}.down to i64",
        f"  {name}.low = sub i64 {name}.q, {name}.less",
        f"  {name} = select i1 {name}.zero, i64 0, i64 {name}.low",
    ]
