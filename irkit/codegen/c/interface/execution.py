"""The run of a model in C: the arithmetic on sizes, and the calls of kernels in order."""

from irkit.codegen.c.memory_access import element_pointer
from irkit.codegen.c.source_file import c_symbol
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
from irkit.codegen.llvm.module.stub import written_buffers
from irkit.ir import Buffer, PrimFunc

_TABLES = {"input": "inputs", "output": "outputs"}
_CHECKED = {"+": "add", "-": "sub", "*": "mul"}
_FLOOR = """\
/* Divide, rounding down, and by 0 to 0; return whether 64 bits do not hold the result. */
static int irkit_floor(int64_t a, int64_t b, int64_t *result) {
    if (b == -1) return __builtin_sub_overflow((int64_t)0, a, result);
    *result = b ? a / b - (a % b && (a % b < 0) != (b < 0)) : 0;
    return 0;
}
"""


class Execution:
    """The functions ``irkit_compute`` and ``irkit_execute`` of a plan; ``functions`` are its
    kernels by the names that calls have."""

    def __init__(self, plan: ExecutorPlan, functions: dict[str, PrimFunc]) -> None:
        self.plan = plan
        self.functions = functions
        self._index = {name: at for at, name in enumerate(plan.size_names)}

    def size(self, size: Size, table: str = "sizes") -> str:
        """Return a size as an expression of C."""
        if isinstance(size, str):
            return f"{table}[{self._index[size]}]"
        if size == -(1 << 63):
            return f"({size + 1} - 1)"
        return f"{size}" if abs(size) < 1 << 31 else f"INT64_C({size})"

    def computed(self) -> str:
        """Return the function that computes sizes from dimensions: 0, or the number of the step,
        from 1, that refuses the call."""
        lines = ["static int32_t irkit_compute(int64_t *sizes) {", "    (void)sizes;"]
        lines += [
            f"    {self._step(step)} return {number};"
            if self._can_refuse(step)
            else f"    {self._step(step)}"
            for number, step in enumerate(self.plan.sizes, 1)
        ]
        floor = _FLOOR if any(step.op == "//" for step in self.plan.sizes) else ""
        return "\n".join([*([floor] if floor else []), *lines, "    return 0;", "}"])

    @staticmethod
    def _can_refuse(step: SizeStep) -> bool:
        return step.op not in ("min", "max")

    def _step(self, step: SizeStep) -> str:
        a, b = (f"(int64_t){self.size(each)}" for each in (step.a, step.b))
        to = self.size(step.name)
        if step.op in _CHECKED:
            return f"if (__builtin_{_CHECKED[step.op]}_overflow({a}, {b}, &{to}))"
        if step.op == "//":
            return f"if (irkit_floor({a}, {b}, &{to}))"
        if step.op in ("extent", "check"):
            return f"if (({to} = {a}) < 0)"
        return f"{to} = {a} {'<' if step.op == 'min' else '>'} {b} ? {a} : {b};"

    def executed(self) -> str:
        """Return the function that calls the kernels in order.

        It returns the status of the kernel that failed, whose number it stores. From
        ``IRKIT_MEASURED`` down, it ended at a measured dimension, whose number it stores: at
        that if there are too many rows, or below it by the number of the step that refuses them.
        """
        lines = [
            "static int32_t irkit_execute(void *const *inputs, void *const *outputs,",
            "                             const unsigned char *weights, unsigned char *arena,",
            "                             int64_t *sizes, int32_t *call) {",
            "    int32_t status;",
            "    (void)inputs, (void)outputs, (void)weights, (void)arena, (void)sizes, (void)call;",
            "    (void)status;",
        ]
        indent, measuring = "    ", self.plan.measuring_loops
        for what, number in control_flow(self.plan):
            if what == "call":
                lines += [indent + line for line in self._call(self.plan.calls[number], number)]
                continue
            if what == "measure":
                lines += [indent + line for line in self._measured(number)]
                continue
            region = self.plan.regions[number]
            if what in ("else", "end"):
                inside = self._carried(region) if isinstance(region, Repeat) else []
                lines += [indent + line for line in inside]
                indent = indent[4:]
            before = self._entered(region) if what == "loop" and isinstance(region, Repeat) else []
            lines += [indent + line for line in before]
            lines.append(indent + self._header(region, what))
            indent += "    " * (what != "end")
            if isinstance(region, Repeat) and what == "loop" and number in measuring:
                counter = f"*(const int64_t *){self._address(region.number)}"
                lines.append(f"{indent}{self.size(iteration_of(number))} = {counter};")
        for copy in self.plan.copies:
            lines.append(f"    {self._copied(copy)}")
        return "\n".join([*lines, "    return 0;", "}"])

    def _call(self, call: KernelCall, number: int) -> tuple[str, str]:
        """Call a kernel, and leave with its status if it failed."""
        func = self.functions[call.kernel]
        written = written_buffers(func)
        buffers = [param for param in func.params if isinstance(param, Buffer)]
        args = [
            f"({element_pointer(param.dtype, constant=param not in written)}){self._address(place)}"
            for param, place in zip(buffers, call.args, strict=True)
        ]
        args = [*map(self.size, call.scalars), *args, *map(self.size, call.extents)]
        args += ["NULL"] * call.records
        return (
            f"status = {c_symbol(func.name)}({', '.join(args)});",
            f"if (status) return *call = {number}, status;",
        )

    def _measured(self, number: int) -> list[str]:
        """Bind a dimension to the number that a kernel has made, and compute what depends on it."""
        size = self.plan.measured[number]
        to, most = self.size(size.name), self.size(size.most)
        lines = [
            f"{to} = *(const int64_t *){self._address(size.count)};",
            f"if ((uint64_t){to} > (uint64_t){most}) return *call = {number}, IRKIT_MEASURED;",
        ]
        for place, step in enumerate(size.steps, 1):
            refuse = f" return *call = {number}, IRKIT_MEASURED - {place};"
            lines.append(f"{self._step(step)}{refuse if self._can_refuse(step) else ''}")
        return lines

    def _header(self, region: Region, what: str) -> str:
        """Return the line at which a region begins, changes sides or ends."""
        if what in ("else", "end"):
            return "} else {" if what == "else" else "}"
        cond = f"*(const unsigned char *){self._address(region.cond)}"
        if isinstance(region, Branch):
            return f"if ({cond}) {{"
        number = f"*(int64_t *){self._address(region.number)}"
        limits = [f"*(const int64_t *){self._address(region.count)}"]
        limits += [self.size(row.rows) for row in region.rows]
        return f"while ({cond}{''.join(f' && {number} < {limit}' for limit in limits)}) {{"

    def _entered(self, loop: Repeat) -> list[str]:
        """Return what is done before the first iteration."""
        return [
            *map(self._copied, loop.enter),
            *(
                f"memset({self._address(row.to)}, 0, {self._bytes(row.size)} * "
                f"{self._bytes(row.rows)});"
                for row in loop.rows
            ),
            f"*(int64_t *){self._address(loop.number)} = 0;",
        ]

    def _carried(self, loop: Repeat) -> list[str]:
        """Return what is done after each iteration."""
        number = f"*(int64_t *){self._address(loop.number)}"
        return [
            *map(self._copied, loop.carry),
            *(
                f"memcpy((unsigned char *){self._address(row.to)} + "
                f"{number} * {self.size(row.size)}, "
                f"{self._address(row.source)}, {self._bytes(row.size)});"
                for row in loop.rows
            ),
            f"++{number};",
        ]

    def _copied(self, copy: Copy) -> str:
        to, source = self._address(copy.to), self._address(copy.source)
        return f"memcpy({to}, {source}, {self._bytes(copy.size)});"

    def _bytes(self, size: Size) -> str:
        return f"(size_t){self.size(size)}"

    def _address(self, place: TensorPlace) -> str:
        if place.kind in _TABLES:
            return f"{_TABLES[place.kind]}[{place.at}]"
        return f"({'weights' if place.kind == 'param' else 'arena'} + {self.size(place.at)})"
