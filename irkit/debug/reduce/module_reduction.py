"""Reduction of a pass over graphs or whole modules: the search, and its files."""

import hashlib
import json
import re
import textwrap
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import numpy as np

from irkit.core import Function, IRKitError, IRModule, atomic_write
from irkit.debug.bisect.bisect import GuiltyStep
from irkit.debug.check.options import CheckOptions
from irkit.debug.reduce.failure import Failure
from irkit.debug.reduce.module_case import MODULE_FAMILIES, ModuleCase, failure_of_module
from irkit.debug.reduce.regression import WIDTH, pipeline_text, quoted
from irkit.debug.reduce.search import Search
from irkit.transform import Apply, Registry, apply_here, sub_pipeline

CANDIDATES = 20_000
CONSTANTS_FILE = "constants.npz"
_DIGEST = re.compile(r'constant\(digest="([0-9a-f]{64})"\)')
_TEST = '''\
"""{title}

Made by `irkit reduce`. It fails until the bug is fixed; run it with `python -m pytest`.
"""
{imports}
from irkit.debug import check
from irkit.graph import parse_module
from irkit.phases import pipeline_for

MODULE = {module}
PIPELINE = {pipeline}


def test_{name}() -> None:
    module = parse_module(MODULE{constants})
    for verdict in check(pipeline_for(PIPELINE, module).steps(module)):
        assert not verdict.is_wrong, str(verdict)
'''
_CONSTANTS = """
CONSTANTS = {
    digest: ArrayData(array)
    for digest, array in np.load(Path(__file__).parent / "constants.npz").items()
}
"""
_IMPORTS = "\nfrom pathlib import Path\n\nimport numpy as np\n"


class ReducedModule(msgspec.Struct, frozen=True, eq=False):
    """The smallest case found, and how many candidates were tried; ``finished`` means all."""

    case: ModuleCase
    failure: Failure
    candidates: int
    finished: bool


def module_case_of(found: GuiltyStep) -> ModuleCase:
    """Return the case of a guilty pass over a graph or a module.

    Raises: IRKitError if a step of a schedule is guilty.
    """
    before, p, pipeline = found.before, found.p, found.pipeline
    if p is None or pipeline is None:
        raise IRKitError("a step of a schedule is no pass over a module")
    if isinstance(before, Function):
        before = IRModule({before.name: before})
    return ModuleCase(before, sub_pipeline(pipeline, [(found.verdict.phase, p)], before))


def reduce_module(
    case: ModuleCase,
    options: CheckOptions,
    *,
    seconds: float,
    candidates: int = CANDIDATES,
    progress: Callable[[str, ModuleCase], object] = lambda name, case: None,
    apply: Apply = apply_here,
) -> ReducedModule:
    """Make a module small while the pass still breaks it in the same way.

    Raises: IRKitError if it does not.
    """
    wanted = failure_of_module(case, options, apply)
    if wanted is None:
        raise IRKitError("cannot reduce the module: the pass alone does not fail on it again")

    def fails(candidate: ModuleCase) -> bool:
        return wanted.is_like(failure_of_module(candidate, options, apply))

    search = Search(fails, _digest, seconds=seconds, candidates=candidates, progress=progress)
    smaller = search.run(case, MODULE_FAMILIES)
    failure = failure_of_module(smaller, options, apply) or wanted
    return ReducedModule(smaller, failure, search.count, not search.is_over)


def _digest(case: ModuleCase) -> bytes:
    return hashlib.blake2b(case.module.script().encode(), digest_size=16).digest()


def write_module_case(folder: Path, case: ModuleCase, failure: Failure, known: Registry) -> Path:
    """Write a case into a folder, all files or none, and return the path of its test.

    Constants that the text only names are in ``constants.npz``.
    """
    text = case.module.script()
    named = set(_DIGEST.findall(text))
    constants = {key: data.array for key, data in case.constants.items() if key in named}
    passes = pipeline_text(case.pipeline, known)
    claim = f"{failure.name}_keeps_the_meaning_of_the_module"
    title = " ".join(failure.text.split()).replace("\\", "/").replace('"', "'")
    test = _TEST.format(
        title=textwrap.fill(title, WIDTH),
        imports=_IMPORTS if constants else "",
        module=quoted(text),
        pipeline=json.dumps(passes) + ("\n" + _CONSTANTS.rstrip() if constants else ""),
        constants=", constants=CONSTANTS" if constants else "",
        name=re.sub(r"\W+", "_", claim, flags=re.ASCII).lower()[:80],
    )
    if constants:
        test = test.replace("import parse_module", "import ArrayData, parse_module")
    texts = {"reduced.irs": text, "pipeline.txt": passes + "\n", "test_reduced.py": test}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        for name, content in texts.items():
            files.enter_context(atomic_write(folder / name)).write_text(content, encoding="utf-8")
        if constants:
            with files.enter_context(atomic_write(folder / CONSTANTS_FILE)).open("wb") as file:
                np.savez(file, allow_pickle=False, **constants)
    for name in ("inputs.npz", *([] if constants else [CONSTANTS_FILE])):
        (folder / name).unlink(missing_ok=True)  # Of an earlier case.
    return folder / "test_reduced.py"
