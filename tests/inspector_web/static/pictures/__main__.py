"""Take the pictures anew, or with ``given`` write the traces that they are of anew."""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from irkit.ir import parse
from irkit.phases import DEFAULT
from irkit.transform import Step, Trace
from tests.inspector_web.browser import launched, served
from tests.inspector_web.pages import MATMUL, conv_model, opened
from tests.inspector_web.static.pictures.shots import HERE, VIEWS, take, write_png


def timed(steps: Iterable[Step], title: str) -> Trace:
    """Return a trace with times that are made up, and without the versions of what made it."""
    made = (msgspec.structs.replace(s, seconds=(s.index * 7 % 11 + 1) / 2e3) for s in steps)
    return Trace(tuple(made), title=title, versions={})


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
    for browser in launched():
        for file in sorted({view.file for view in VIEWS.values()}):
            with served(opened(*given_files(file))) as server:
                for name, view in VIEWS.items():
                    if view.file == file:
                        picture = take(browser, server.address, view)
                        (HERE / "taken" / f"{name}.png").write_bytes(write_png(picture))


def given_files(name: str) -> tuple[str, ...]:
    """Return the files that a page of a trace opens: a matrix product stands beside another."""
    names = (name, "other") if name == "matmul" else (name,)
    return tuple(str(HERE / "given" / f"{each}.trace") for each in names)


if __name__ == "__main__":
    write_given() if sys.argv[1:] == ["given"] else take_all()
