"""Ten views look as they did: each is compared with a picture that is kept."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Playwright

from irkit.inspector_web.record.restore import load_trace
from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import launched, served
from tests.inspector_web.pages import opened
from tests.inspector_web.static.pictures.__main__ import given_files
from tests.inspector_web.static.pictures.shots import (
    HERE,
    MOST_APART,
    VIEWS,
    Pages,
    Picture,
    apart,
    pages,
    read_png,
    take,
    write_png,
)


def kept(name: str) -> Picture:
    return read_png((HERE / "taken" / f"{name}.png").read_bytes())


@pytest.fixture(scope="module")
def browser(driver: Playwright) -> Iterator[Browser]:
    """Start the browser that took the pictures."""
    yield from launched(driver, windows=True)


@pytest.fixture(scope="module")
def page_of(browser: Browser) -> Iterator[Pages]:
    with pages(browser) as made:
        yield made


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Server]]:
    with (
        served(opened(*given_files("matmul"))) as matmul,
        served(opened(*given_files("model"))) as model,
    ):
        yield {"matmul": matmul, "model": model}


@pytest.mark.parametrize("file", sorted((HERE / "given").glob("*.trace")), ids=lambda f: f.stem)
def test_a_kept_trace_names_no_folder_of_a_machine(file: Path) -> None:
    spans = [each.span for step in load_trace(str(file)) for each in (*step.reports, *step.kept)]
    assert any(span and span.file for span in spans)
    assert not [span for span in spans if span and Path(span.file).is_absolute()]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_as_it_did(
    name: str,
    page_of: Pages,
    servers: dict[str, Server],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    view = VIEWS[name]
    found = take(page_of(view), servers[view.file].address, view)
    file = tmp_path_factory.getbasetemp() / f"{name}.png"
    file.write_bytes(write_png(found))
    share = apart(found, kept(name))
    assert share <= MOST_APART, (
        f"{share:.2%} of {name} differs from the picture that is kept; see {file}, and if it is as "
        "meant: python -m tests.inspector_web.static.pictures"
    )


def test_no_two_views_are_taken_for_each_other_and_a_lost_panel_is_noticed() -> None:
    pictures = {name: kept(name) for name in VIEWS}
    for name, picture in pictures.items():
        others = [other for at, other in pictures.items() if at != name]
        assert min(apart(picture, other) for other in others) > 2 * MOST_APART, name
    harmed = np.array(pictures["difference"])
    harmed[:30, -60:] = harmed[0, 0]  # The buttons at the top right.
    assert apart(harmed, pictures["difference"]) > MOST_APART
    assert apart(pictures["difference"], pictures["difference-phone"]) == 1.0


def test_a_picture_reads_as_it_was_written() -> None:
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    assert np.array_equal(read_png(write_png(picture)), picture)
