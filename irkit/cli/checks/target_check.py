"""The part of the verb check that compares targets."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import click
import numpy as np
from rich.progress import Progress, SpinnerColumn, TextColumn

from irkit.cli.flags.check_flags import MODEL_STEPS, CheckFlags, read_npz
from irkit.cli.flags.model_inputs import feeds_of, graph_stages
from irkit.cli.flags.programs import ProgramFile
from irkit.cli.output.json_results import TargetJson, check_json, echo_json, target_json
from irkit.core import IRKitError, Target, console
from irkit.debug import (
    MAX_SECONDS,
    MAX_STEPS,
    CheckOptions,
    InputSet,
    NativeWorker,
    TargetComparison,
    TargetExecutor,
    TargetVerdict,
    inputs_of,
    kernel_cases,
    require_two,
    scheduled_steps,
    target_executor,
    target_table,
)
from irkit.graph import GraphFunc
from irkit.ir import Buffer, PrimFunc, numpy_dtype, parse
from irkit.phases import LEGALIZE, phases_of
from irkit.schedule import ScheduleTrace
from irkit.transform import Apply, Pipeline


def check_targets(
    program: ProgramFile,
    chosen: CheckFlags,
    targets: Sequence[str],
    apply: Apply,
    *,
    contract: bool,
    as_json: bool,
    unknown: int = 0,
) -> int:
    """Compare a program on targets, each with the one before it; print what was found, and return
    the exit code: ``unknown`` if something is not known, and nothing is wrong.

    Raises: IRKitError for a target that nothing here runs, or if what runs it is not installed.
    """
    require_two(targets)
    executors = [_installed(target_executor(text, _legalised)) for text in targets]
    found = list[tuple[str, TargetVerdict]]()
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=console(stderr=True)
    ) as progress:
        task = progress.add_task("")
        with _Comparisons(executors, contract, program) as comparisons:
            for form, run in _runs(program, chosen, executors, apply):
                progress.update(task, description=f"{run.func.name} on {', '.join(targets)}")
                found += [(form, verdict) for verdict in comparisons.verdicts(run)]
    wrong = any(each.is_wrong for _, each in found)
    tried = any(each.status != "not known" for _, each in found)
    left_open = any(each.status == "not known" for _, each in found)
    code = 1 if wrong or not tried else unknown if left_open else 0
    if as_json:
        results: list[TargetJson] = [target_json(form, each) for form, each in found]
        echo_json(check_json(code == 0, program.damage, targets=results))
        return code
    console().print(target_table(each for _, each in found))
    for form, each in found:
        if each.is_wrong:
            click.echo(f"{each}\n  of the loops {form}")
    return code


def _installed(executor: TargetExecutor) -> TargetExecutor:
    if executor.missing:
        raise IRKitError(f"the target {executor.name!r} cannot run here: {executor.missing}")
    return executor


def _legalised(func: PrimFunc, target: Target) -> PrimFunc:
    return phases_of(target, LEGALIZE).run(func)


class _Run:
    """A function after the phases of a processor, and after those of a device, with inputs."""

    def __init__(
        self, func: PrimFunc, launched: PrimFunc | None, inputs: Sequence[InputSet], why: str = ""
    ) -> None:
        self.func, self.launched, self.inputs, self.why = func, launched, inputs, why


class _Comparisons:
    """A comparison for each target and the one before it, which share what runs code."""

    def __init__(
        self, executors: Sequence[TargetExecutor], contract: bool, program: ProgramFile
    ) -> None:
        steps = MODEL_STEPS if program.is_of_kernels else MAX_STEPS
        reference = target_executor("interpreter", max_steps=steps)
        self._worker = NativeWorker(MAX_SECONDS)
        self._pairs = [
            TargetComparison(a, b, reference, self._worker, contract=contract, max_steps=steps)
            for a, b in pairwise(executors)
        ]

    def verdicts(self, run: _Run) -> Iterator[TargetVerdict]:
        """Yield what is known of a function on each pair of targets."""
        for pair in self._pairs:
            if run.why:
                names = pair.first.name, pair.second.name
                yield TargetVerdict(run.func.name, *names, "not known", message=run.why)
            else:
                yield pair.verdict(run.func, run.inputs, run.launched)

    def __enter__(self) -> "_Comparisons":
        return self

    def __exit__(self, *ignored: object) -> None:
        self._worker.close()


def _runs(
    program: ProgramFile, chosen: CheckFlags, executors: Sequence[TargetExecutor], apply: Apply
) -> Iterator[tuple[str, _Run]]:
    """Yield each function of a program, or each kernel of a model, with the form of its loops."""
    device = next((each.target for each in executors if each.target.device is not None), None)
    trace = chosen.schedule_trace()

    def lowered(func: PrimFunc, pipeline: Pipeline) -> tuple[PrimFunc, PrimFunc | None]:
        launched = None
        if device is not None:
            launched = _after(func, trace, phases_of(device, pipeline), apply)
        return _after(func, trace, pipeline, apply), launched

    options = chosen.options(program)
    for form, module, pipelines in chosen.forms(program):
        if program.is_of_graphs:
            main = module.functions.get("main")
            if not isinstance(main, GraphFunc):
                raise IRKitError("the module has no graph function 'main', so it is no model")
            given = read_npz(chosen.inputs) if chosen.inputs is not None else {}
            feeds = feeds_of(main, given, chosen.seed)
            for case in kernel_cases(graph_stages(module, pipelines[0]), feeds):
                func = parse(case.text)
                inputs = InputSet("the data of the model", "given", _arguments(func, case.inputs))
                yield form, _Run(*lowered(func, pipelines[-1]), [inputs])
            continue
        for func in module.functions.values():
            if isinstance(func, PrimFunc):
                inputs, why = inputs_of(func, CheckOptions(**options))
                yield form, _Run(*lowered(func, pipelines[-1]), inputs, why)


def _after(func: PrimFunc, trace: ScheduleTrace, pipeline: Pipeline, apply: Apply) -> PrimFunc:
    """Return a function after a schedule and the phases."""
    for step in scheduled_steps(func, trace, pipeline, apply=apply):
        if step.changed:
            assert isinstance(step.after, PrimFunc)
            func = step.after
    return func


def _arguments(func: PrimFunc, inputs: Mapping[str, object]) -> tuple[object, ...]:
    """Return the arguments of a kernel: its inputs, and memory for its outputs."""
    made = list[object]()
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = [int(getattr(dim, "value")) for dim in param.shape]
        given = inputs.get(param.name)
        made.append(np.zeros(shape, numpy_dtype(param.dtype)) if given is None else given)
    return tuple(made)
