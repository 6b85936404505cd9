"""What each kernel of a model takes: time, operations and bytes, measured call by call."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec

from irkit.ir import Work

Addresses = dict[
    str, "list[int] | int"
]  # By kind of place: of each array, or where a block begins.
_MAX_NAMED = 3


class CallProfile(msgspec.Struct, frozen=True):
    """One kernel call of a model, in each run.

    Units: nanoseconds; ``started`` is from the beginning of the first run. ``work`` is None where
    operations and bytes are not known.
    """

    kernel: str
    node: str
    operators: tuple[str, ...]
    started: tuple[int, ...]
    lasted: tuple[int, ...]
    work: Work | None

    @property
    def seconds(self) -> float:
        """Return the median over the runs."""
        return median(self.lasted) * 1e-9


class KernelProfile(msgspec.Struct, frozen=True):
    """All calls of one kernel in one run.

    Units: seconds, the sum of the medians of the calls; operations and bytes of all calls.
    """

    kernel: str
    calls: int
    seconds: float
    operators: tuple[tuple[str, ...], ...]
    work: Work | None

    @property
    def gflops(self) -> float | None:
        """Return billions of float operations a second; None if they are not known."""
        return None if self.work is None else _rate(self.work.flops, self.seconds)

    @property
    def gbytes(self) -> float | None:
        """Return billions of bytes a second to and from memory; None if they are not known."""
        return None if self.work is None else _rate(self.work.moved, self.seconds)


class ModelProfile(msgspec.Struct, frozen=True):
    """Profile of a model: the calls in order. ``print`` shows a table, the slowest kernel first.

    ``seconds`` is the median time of whole runs by the executor, to compare with the sum of the
    calls, which are made one by one and take about a microsecond more each.
    """

    calls: tuple[CallProfile, ...]
    seconds: float
    threads: int
    cpu: str

    @property
    def kernels(self) -> tuple[KernelProfile, ...]:
        """Return the calls by kernel, the slowest first."""
        groups: dict[str, list[CallProfile]] = {}
        for call in self.calls:
            groups.setdefault(call.kernel, []).append(call)
        made = [_of_kernel(name, calls) for name, calls in groups.items()]
        return tuple(sorted(made, key=lambda row: -row.seconds))

    def __str__(self) -> str:
        rows = self.kernels
        total = sum([row.seconds for row in rows])
        cells = [("ms", "%", "GFLOP/s", "GB/s", "calls", "kernel", "operators")]
        cells += [_cells(row, total) for row in rows]
        works = [row.work for row in rows]
        known = [work for work in works if work is not None]
        whole = KernelProfile("all kernels", len(self.calls), total, (), _sum(known))
        cells.append(_cells(whole, total))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [_line(row, widths) for row in cells]
        runs = max((len(call.lasted) for call in self.calls), default=0)
        lines.append(
            f"median of {runs} runs on {self.threads} threads of {self.cpu}; "
            f"a whole run takes {self.seconds * 1e3:.3f} ms"
        )
        return "\n".join(lines)

    def to_json(self) -> bytes:
        """Return kernels and calls as JSON, with rates; times in seconds."""
        return msgspec.json.format(
            msgspec.json.encode(
                {
                    "seconds": self.seconds,
                    "threads": self.threads,
                    "cpu": self.cpu,
                    "kernels": [
                        {**msgspec.to_builtins(row), "gflops": row.gflops, "gbytes": row.gbytes}
                        for row in self.kernels
                    ],
                    "calls": [
                        {
                            "kernel": call.kernel,
                            "node": call.node,
                            "operators": call.operators,
                            "seconds": [time * 1e-9 for time in call.lasted],
                            "work": call.work,
                        }
                        for call in self.calls
                    ],
                }
            )
        )

    def chrome_trace(self) -> bytes:
        """Return all runs as a timeline for Chrome's tracing, which Perfetto reads too."""
        events: list[dict[str, Any]] = []
        for call in self.calls:
            for run, (start, time) in enumerate(zip(call.started, call.lasted, strict=True)):
                one = _of_kernel(call.kernel, [call])
                about: dict[str, Any] = {
                    "run": run,
                    "node": call.node,
                    "operators": ", ".join(call.operators),
                    **({} if call.work is None else msgspec.to_builtins(call.work)),
                    "GFLOP/s": one.gflops,
                    "GB/s": one.gbytes,
                }
                events.append(
                    {
                        "name": call.kernel,
                        "cat": "kernel",
                        "ph": "X",
                        "ts": start / 1e3,
                        "dur": time / 1e3,
                        "pid": 1,
                        "tid": 1,
                        "args": about,
                    }
                )
        events.sort(key=lambda event: event["ts"])
        return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ms"})


def _of_kernel(name: str, calls: Sequence[CallProfile]) -> KernelProfile:
    one = calls[0].work
    operators = tuple(call.operators or (call.node,) for call in calls)
    work = None if one is None else _sum([one] * len(calls))
    return KernelProfile(name, len(calls), sum([call.seconds for call in calls]), operators, work)


def _sum(works: Sequence[Work]) -> Work:
    return Work(
        sum([work.flops for work in works]),
        sum([work.loaded for work in works]),
        sum([work.stored for work in works]),
        sum([work.moved for work in works]),
        all(work.exact for work in works),
    )


def _rate(amount: int, seconds: float) -> float | None:
    return amount / seconds * 1e-9 if seconds else None


def _cells(row: KernelProfile, total: float) -> tuple[str, ...]:
    named = [" + ".join(each) for each in row.operators[:_MAX_NAMED]]
    more = len(row.operators) - len(named)
    named += [f"{more} more"] if more else []
    share = 100 * row.seconds / total if total else 0.0
    exact = row.work is None or row.work.exact
    return (
        f"{row.seconds * 1e3:.3f}",
        f"{share:.1f}",
        _shown(row.gflops, exact),
        _shown(row.gbytes, exact),
        str(row.calls),
        row.kernel,
        "; ".join(named),
    )


def _shown(rate: float | None, exact: bool) -> str:
    if rate is None:
        return "?"
    return f"{'' if exact else '<='}{rate:.2f}" if rate else "-"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *numbers, kernel, operators = cells
    right = [cell.rjust(width) for cell, width in zip(numbers, widths, strict=False)]
    return "  ".join([*right, kernel.ljust(widths[-2]), operators]).rstrip()
