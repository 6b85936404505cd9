"""The families that a sample is drawn from: whole folders of irkit, none of their modules chosen.

Each family has as many mutants as another, drawn by the hash of a commit: nobody chooses them.
"""

import hashlib
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import irkit
from irkit.core import IRKitError
from tests.mutation.changes.mutant import Mutant, mutants
from tests.mutation.changes.sites import sites

FAMILIES: dict[str, tuple[str, ...]] = {
    "passes": ("irkit.passes.loop", "irkit.ir.analysis", "irkit.ir.threads"),
    "arithmetic": ("irkit.ir.arith",),
    "loop IR": (
        *("irkit.ir.interp", "irkit.ir.text", "irkit.ir.verify", "irkit.ir.math"),
        *("irkit.ir.instructions", "irkit.ir.reference", "irkit.ir.scopes", "irkit.ir.work"),
    ),
    "schedules": ("irkit.schedule",),
    "tensor expressions": ("irkit.te", "irkit.autoschedule"),
    "graph": ("irkit.graph", "irkit.passes.graph"),
    "ONNX": ("irkit.frontend.onnx",),
    "PyTorch": ("irkit.frontend.torch", "irkit.frontend.nn", "irkit.frontend.sizes"),
    "topi": ("irkit.topi",),
    "code generation": ("irkit.codegen",),
    "runtime": ("irkit.runtime",),
    "pipelines": ("irkit.transform", "irkit.phases"),
    "core": ("irkit.core",),
    "verdicts": ("irkit.debug", "irkit.proof"),
    "tuning": ("irkit.tune",),
}
"""Each family, and the folders that it has all modules of."""

_ROOT = Path(irkit.__file__).parent


def last_code_commit() -> str:
    """Return the hash of the last commit that changes irkit. Raises: IRKitError without git."""
    try:
        made = subprocess.run(
            ["git", "log", "-1", "--format=%H", "--", str(_ROOT)],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise IRKitError(f"there is no history to take the seed from: {error}") from None
    return made.stdout.strip()


def number_of(seed: str) -> int:
    """Return the number of a seed, which draws the cases."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "little")


@cache
def modules_of(family: str) -> tuple[str, ...]:
    """Return the modules of a family that have anything to change."""
    return tuple(name for folder in FAMILIES[family] for name in _modules(folder) if sites(name))


def _modules(folder: str) -> Iterator[str]:
    for path in sorted((_ROOT.parent / folder.replace(".", "/")).rglob("*.py")):
        if path.name != "__init__.py":
            yield ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts)


def family_of(mutant: Mutant) -> str:
    """Return the family of a mutant."""
    return next(
        (
            family
            for family, folders in FAMILIES.items()
            if any(mutant.module.startswith(f"{folder}.") for folder in folders)
        ),
        "others",
    )


def draw_sample(seed: str, count: int) -> list[Mutant]:
    """Draw at least ``count`` mutants, equally many of each family."""
    each = -(-count // len(FAMILIES))
    return [
        mutant
        for family in FAMILIES
        for mutant in mutants(f"{seed} {family}", each, modules_of(family))
    ]
