"""Files of a reduced case.

They are the function, its schedule, the pipeline, the inputs, and a self-contained test that fails
as long as the case does.
"""

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from irkit.core import IRKitError, atomic_write
from irkit.debug.contracts.hash_seeds import hash_seed_differences
from irkit.debug.reduce.case import FailingCase
from irkit.debug.reduce.failure import Failure
from irkit.ir import script
from irkit.processes import Limits
from irkit.schedule import ScheduleTrace
from irkit.transform import AnyPass, Pipeline, Registry

INLINE = 4096  # Elements of inputs that the test itself holds at most.
WIDTH = 96
FILES = ("reduced.irs", "pipeline.txt", "inputs.npz", "test_reduced.py")
SCHEDULE_FILE = "reduced_schedule.json"
_TEST = '''\
"""{title}

Made by `irkit reduce`. It fails until the bug is fixed; run it with `python -m pytest`.
"""
{imports}
import numpy as np

from irkit.debug import {names}
from irkit.ir import parse
from irkit.phases import pipeline_for
{more}
FUNCTION = {function}
{schedule}PIPELINE = {pipeline}
INPUTS = {inputs}


def test_{name}() -> None:
    func = parse(FUNCTION)
{body}
'''


HASH_SEEDS = (1, 2)
_WITH_HASH_SEEDS = """


def test_{name}_for_every_hash_seed() -> None:
    func = parse(FUNCTION)
    steps = {steps}
    jobs = [(p, [step.before]) for step in steps for p in PASSES if step.name == p.name]
    for seed in {seeds}:
        assert not any(hash_seed_differences(jobs, seed)), f"another result with seed {{seed}}"
"""
_NO_LIMITS = Limits()
_PLAIN = """\
{first}    steps = {steps}
    for verdict in check(steps, INPUTS{code}):
        assert verdict.ok, str(verdict)"""
_GUARDED = """\
{first}    with Isolation(seconds={seconds}, memory={memory}) as isolation:
        steps = {steps}
        for verdict in check(steps, INPUTS{code}):
            assert verdict.ok, str(verdict)"""
_STEPS = "pipeline_for(PIPELINE, func).steps(func{apply})"
_SCHEDULE = "    schedule = ScheduleTrace.from_json(SCHEDULE)\n"
_SCHEDULED = "scheduled_steps(func, schedule, pipeline_for(PIPELINE, func){apply})"


def regression_test(
    case: FailingCase,
    failure: Failure,
    known: Registry,
    limits: Limits = _NO_LIMITS,
    *,
    seeded: Sequence[AnyPass] = (),
) -> str:
    """Return the text of a pytest for a case; ``known`` passes are written without their module.

    Passes that are ``seeded`` have results that depend on the hash seed of the process: a second
    test runs them in processes with two others.

    A case that hangs or crashes its process runs in a child process within ``limits``. Inputs of
    more than 4,096 elements are read from ``inputs.npz`` beside the test.
    """
    inputs = {name: np.asarray(value) for name, value in case.inputs.items()}
    inline = sum(array.size for array in inputs.values()) <= INLINE
    title = " ".join(failure.text.split()).replace("\\", "/").replace('"', "'")
    imports = "" if inline else "\nfrom pathlib import Path\n"
    if any(array.dtype.name == "bfloat16" for array in inputs.values()):
        imports += "\nimport ml_dtypes"
    names = ["check"] + ["scheduled_steps"] * bool(case.schedule.steps)
    steps = _SCHEDULED if case.schedule.steps else _STEPS
    first = _SCHEDULE if case.schedule.steps else ""
    code = ", code=True" if failure.is_of_code else ""
    modifies = failure.kind == "input"
    apply = ", apply=with_untouched_input(apply_here)" if modifies else ""
    names += ["with_untouched_input"] * modifies
    body = _PLAIN.format(first=first, steps=steps.format(apply=apply), code=code)
    if failure.needs_isolation:
        names.insert(0, "Isolation")
        body = _GUARDED.format(
            first=first,
            code=code,
            seconds=limits.seconds,
            memory=limits.memory,
            steps=steps.format(apply=", apply=isolation.apply"),
        )
    guilty = "native_code" if failure.is_of_code else failure.name
    claim = f"{guilty}_keeps_the_meaning_of_{case.func.name}"
    name = re.sub(r"\W+", "_", claim, flags=re.ASCII).lower()[:80]
    more = "from irkit.schedule import ScheduleTrace\n" if case.schedule.steps else ""
    more += "from irkit.transform import apply_here\n" * modifies
    last = ""
    if seeded:
        names.append("hash_seed_differences")
        more += "from irkit.transform import load_pass\n"
        passes = "".join(f"    load_pass({p.path!r}, {dict(p.options)!r}),\n" for p in seeded)
        more += f"\nPASSES = (\n{passes})"
        last = _WITH_HASH_SEEDS.format(name=name, steps=steps.format(apply=""), seeds=HASH_SEEDS)
        if case.schedule.steps:
            last = last.replace("    steps = ", f"{_SCHEDULE}    steps = ")
    text = _TEST.format(
        title=textwrap.fill(title, WIDTH),
        imports=imports,
        names=", ".join(sorted(names, key=str.lower)),
        more=more,
        schedule=_schedule_text(case.schedule),
        body=body,
        function=quoted(script(case.func)),
        pipeline=json.dumps(pipeline_text(case.pipeline, known)),
        inputs=_inputs_text(inputs, inline),
        name=name,
    )
    return text + last


def seeded_passes(case: FailingCase, known: Registry) -> list[AnyPass]:
    """Return the passes of a case, but for ``known`` ones, whose results depend on the hash seed of
    the process; none if no other process can run them."""
    own = {p.name: p for _, p in case.pipeline.placed if p.name not in known}
    found: dict[str, AnyPass] = {}
    with suppress(IRKitError):
        steps = [(own[step.name], step.before) for step in case.steps() if step.name in own]
        for seed in HASH_SEEDS if steps else ():
            differences = hash_seed_differences([(p, [ir]) for p, ir in steps], seed)
            found |= {p.name: p for (p, _), apart in zip(steps, differences, strict=True) if apart}
    return list(found.values())


def pipeline_text(pipeline: Pipeline, known: Registry) -> str:
    """Return a pipeline as text for a test. Raises: IRKitError if a test cannot import a pass."""
    for _, p in pipeline.placed:
        if "<" in p.path:
            raise IRKitError(
                f"a test cannot import pass {p.name!r}: {p.path} is defined inside a function",
                hint="Define it at the top level of a module.",
            )
    return pipeline.text(known)


def _schedule_text(schedule: ScheduleTrace) -> str:
    """Return a schedule as JSON, one step a line, below a comment with its Python form."""
    if not schedule.steps:
        return ""
    shown = "".join(f"# {line}\n" for line in schedule.as_python().splitlines())
    return f"{shown}SCHEDULE = {quoted(schedule.as_json_lines())}\n"


def quoted(text: str) -> str:
    """Return text as a Python literal."""
    if "\\" in text or '"""' in text:
        return json.dumps(text)
    return f'"""\\\n{text}"""'


def _inputs_text(inputs: Mapping[str, Any], inline: bool) -> str:
    if not inline:
        return 'dict(np.load(Path(__file__).parent / "inputs.npz"))'
    lines = [f"    {json.dumps(name)}: {_array_text(array)},\n" for name, array in inputs.items()]
    return "{\n" + "".join(lines) + "}" if lines else "{}"


def _array_text(array: Any) -> str:
    """Return NumPy code that makes an array with the same bits, except for the payload of NaN."""
    kind = array.dtype.name
    names = {"bfloat16": "ml_dtypes.bfloat16", "bool": "np.bool_"}
    dtype = names.get(kind, f"np.{kind}")
    flat = array.reshape(-1).tolist()
    if not any(value != 0 or math.copysign(1, value) < 0 for value in flat):
        return f"np.zeros({array.shape}, {dtype})"
    numbers = textwrap.fill(", ".join(map(_number, flat)), WIDTH, subsequent_indent="        ")
    made = f"np.array([{numbers}], {dtype})"
    return made if array.ndim == 1 else f"{made}.reshape({array.shape})"


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def write_case(
    folder: Path,
    case: FailingCase,
    failure: Failure,
    known: Registry,
    limits: Limits = _NO_LIMITS,
    *,
    seeded: Sequence[AnyPass] = (),
) -> Path:
    """Write a case into a folder, all files or none, and return the path of its test; the options
    are those of :func:`regression_test`."""
    texts = {
        "reduced.irs": script(case.func),
        "pipeline.txt": pipeline_text(case.pipeline, known) + "\n",
        "test_reduced.py": regression_test(
            case,
            failure,
            known,
            limits,
            seeded=seeded,
        ),
    }
    if case.schedule.steps:
        texts[SCHEDULE_FILE] = case.schedule.as_json()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        for name in dict.fromkeys((*FILES, *texts)):
            made = files.enter_context(atomic_write(folder / name))
            if name in texts:
                made.write_text(texts[name], encoding="utf-8")
            else:
                with made.open("wb") as file:
                    np.savez(file, allow_pickle=False, **dict(case.inputs))
    if not case.schedule.steps:  # The file of an earlier case would seem to belong to this one.
        (folder / SCHEDULE_FILE).unlink(missing_ok=True)
    return folder / "test_reduced.py"
