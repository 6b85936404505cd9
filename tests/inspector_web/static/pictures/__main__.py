"""Take the pictures anew, or with ``given`` write the traces that they are of anew."""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import msgspec
from playwright.sync_api import sync_playwright

from irkit.core import Application, RuleReport
from irkit.ir import parse
from irkit.phases import DEFAULT
from irkit.transform import Step, Trace
from tests.inspector_web.browser import launched, served
from tests.inspector_web.pages import MATMUL, conv_model, opened
from tests.inspector_web.static.pictures.shots import (
    HERE,
    VIEWS,
    Pages,
    pages,
    take,
    write_png,
)

ROOT = Path(__file__).parents[4]
_Spanned = TypeVar("_Spanned", Application, RuleReport)


def timed(steps: Iterable[Step], title: str) -> Trace:
    """Return a trace with times that are made up, and without the versions and the folder of what
    made it."""
    made = (
        msgspec.structs.replace(
            step,
            seconds=(step.index * 7 % 11 + 1) / 2e3,
            reports=tuple(map(below_project, step.reports)),
            kept=tuple(map(below_project, step.kept)),
        )
        for step in steps
    )
    return Trace(tuple(made), title=title, versions={})


def below_project(found: _Spanned) -> _Spanned:
    """Name the file of a rule from the folder of the project on."""
    span = found.span
    if span is None or not span.file.startswith(f"{ROOT}/"):
        return found
    short = msgspec.structs.replace(span, file=span.file.removeprefix(f"{ROOT}/"))
    return msgspec.structs.replace(found, span=short)


def write_given() -> None:
    """Write the traces."""
    folder = HERE / "given"
    for name, pipeline in (
        ("matmul", DEFAULT),
        ("other", DEFAULT.without("hoist-first-iterations")),
    ):
        timed(pipeline.steps(parse(MATMUL, file="matmul.irs")), name).save(folder / f"{name}.trace")
    with tempfile.TemporaryDirectory() as place:
        inspection = opened(conv_model(Path(place)))
        assert inspection.workspace is not None
        timed(inspection.workspace.runs[0].trace, "model").save(folder / "model.trace")
        inspection.close()


def take_all() -> None:
    """Take all pictures."""
    with sync_playwright() as driver:
        for browser in launched(driver, windows=True):
            with pages(browser) as page_of:
                for file in sorted({view.file for view in VIEWS.values()}):
                    take_those_of(page_of, file)


def take_those_of(page_of: Pages, file: str) -> None:
    """Take the pictures of the views of a file."""
    with served(opened(*given_files(file))) as server:
        for name, view in VIEWS.items():
            if view.file == file:
                picture = take(page_of(view), server.address, view)
                (HERE / "taken" / f"{name}.png").write_bytes(write_png(picture))


def given_files(name: str) -> tuple[str, ...]:
    """Return the files that a page of a trace opens: a matrix product stands beside another."""
    names = (name, "other") if name == "matmul" else (name,)
    return tuple(str(HERE / "given" / f"{each}.trace") for each in names)


if __name__ == "__main__":
    write_given() if sys.argv[1:] == ["given"] else take_all()
