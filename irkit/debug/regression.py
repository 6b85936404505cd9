"""Write a case as files: the function, the pipeline, the inputs, and a test that stands alone and
fails for as long as the case does."""

import json
import math
import re
import textwrap
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from irkit.core import IRKitError, replacing
from irkit.debug.case import Case, Failure
from irkit.debug.child import Limits
from irkit.ir import script
from irkit.transform import Registry

INLINE = 4096  # Elements of inputs up to which they stand in the test itself.
WIDTH = 96
FILES = ("reduced.irs", "pipeline.txt", "inputs.npz", "test_reduced.py")
_TEST = '''\
"""{title}

Made by `irkit reduce`. It fails while that is so; run it with `python -m pytest`.
"""
{imports}
import numpy as np

from irkit.debug import {names}
from irkit.ir import parse
from irkit.phases import pipeline_for

FUNCTION = {function}
PIPELINE = {pipeline}
INPUTS = {inputs}


def test_{name}() -> None:
    func = parse(FUNCTION)
{body}
'''


_NO_LIMITS = Limits()
_PLAIN = """\
    for verdict in check(pipeline_for(PIPELINE, func).steps(func), INPUTS):
        assert verdict.ok, str(verdict)"""
_GUARDED = """\
    with Isolation(seconds={seconds}, memory={memory}) as isolation:
        steps = pipeline_for(PIPELINE, func).steps(func, apply=isolation.apply)
        for verdict in check(steps, INPUTS):
            assert verdict.ok, str(verdict)"""


def regression_test(
    case: Case, failure: Failure, known: Registry, limits: Limits = _NO_LIMITS
) -> str:
    """Write a pytest of a case, as text; ``known`` are passes that need no module to be named.

    One that hangs or crashes its process is run in another, within ``limits``.

    Inputs of more than 4,096 elements it takes from ``inputs.npz`` beside it.
    """
    inputs = {name: np.asarray(value) for name, value in case.inputs.items()}
    inline = sum(array.size for array in inputs.values()) <= INLINE
    title = " ".join(failure.text.split()).replace("\\", "/").replace('"', "'")
    imports = "" if inline else "\nfrom pathlib import Path\n"
    if any(array.dtype.name == "bfloat16" for array in inputs.values()):
        imports += "\nimport ml_dtypes"
    body = _PLAIN
    if failure.needs_guard:
        body = _GUARDED.format(seconds=limits.seconds, memory=limits.memory)
    names = f"{failure.name}_keeps_the_meaning_of_{case.func.name}"
    return _TEST.format(
        title=textwrap.fill(title, WIDTH),
        imports=imports,
        names="Isolation, check" if failure.needs_guard else "check",
        body=body,
        function=_quoted(script(case.func)),
        pipeline=json.dumps(_pipeline_text(case, known)),
        inputs=_inputs_text(inputs, inline),
        name=re.sub(r"\W+", "_", names, flags=re.ASCII).lower()[:80],
    )


def _pipeline_text(case: Case, known: Registry) -> str:
    for _, p in case.pipeline.placed:
        if "<" in p.path:
            raise IRKitError(
                f"pass {p.name!r} cannot stand in a test: {p.path} is defined inside a function",
                hint="Define it at the top level of a module.",
            )
    return case.pipeline.text(known)


def _quoted(text: str) -> str:
    if "\\" in text or '"""' in text:
        return json.dumps(text)
    return f'"""\\\n{text}"""'


def _inputs_text(inputs: Mapping[str, Any], inline: bool) -> str:
    if not inline:
        return 'dict(np.load(Path(__file__).parent / "inputs.npz"))'
    lines = [f"    {json.dumps(name)}: {_array_text(array)},\n" for name, array in inputs.items()]
    return "{\n" + "".join(lines) + "}" if lines else "{}"


def _array_text(array: Any) -> str:
    """Write an array as NumPy code that makes the same bits; only NaN loses its payload."""
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
    folder: Path, case: Case, failure: Failure, known: Registry, limits: Limits = _NO_LIMITS
) -> Path:
    """Write a case into a folder, and give the path of its test; all files appear, or none."""
    texts = {
        "reduced.irs": script(case.func),
        "pipeline.txt": _pipeline_text(case, known) + "\n",
        "test_reduced.py": regression_test(case, failure, known, limits),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        for name in FILES:
            made = files.enter_context(replacing(folder / name))
            if name in texts:
                made.write_text(texts[name], encoding="utf-8")
            else:
                with made.open("wb") as file:
                    np.savez(file, allow_pickle=False, **dict(case.inputs))
    return folder / "test_reduced.py"
