"""Large traces on the page, in a real browser: the times to the first difference, to all lines of a
stage and to a line by its number, and the memory of server and page.

``python -m benchmarks.inspector.page 100000 1000000`` measures traces of so many lines. Chromium is
searched on the path; IRKIT_CHROMIUM names another one.
"""

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.inspector.large_traces import large_trace
from benchmarks.inspector.load import ask, serving
from irkit.transform import Trace

PASSES = 4
SECOND = 1_000.0


def timed(what: str, limit: float, run: Callable[[], object]) -> None:
    """Time a function once and print it with its limit. Units: milliseconds."""
    begun = time.perf_counter()
    run()
    spent = (time.perf_counter() - begun) * 1e3
    print(f"  {'ok  ' if spent <= limit else 'OVER'} {what}: {spent:.0f} ms (at most {limit:g})")


def measure(page: Page, address: str, lines: int) -> None:
    """Measure one trace, which the server has already read."""
    page.set_default_timeout(120_000)

    def first() -> None:
        page.goto(address)
        page.wait_for_selector(".row.changed, .row.added, .row.removed")

    def whole() -> None:
        page.keyboard.press("x")
        page.wait_for_selector('.row[data-right="40"]')

    def numbered(line: int) -> None:
        page.keyboard.press("l")
        page.keyboard.type(str(line))
        page.keyboard.press("Enter")
        page.wait_for_selector(f'.row.chosen[data-right="{line}"]')

    timed("the first difference", SECOND, first)
    timed("all lines", SECOND, whole)
    timed("a line in the middle by its number", SECOND, lambda: numbered(lines // 2))
    timed("the last page", SECOND, lambda: numbered(lines - 7))
    held: int = page.evaluate("document.querySelectorAll('.row').length")
    print(f"       rows that the page holds then: {held}")
    timed("the next pass, of which nothing was printed", SECOND, lambda: _next(page))


def _next(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.wait_for_selector(".row.changed, .row.added, .row.removed")


def others_wait(address: str, page: Page) -> None:
    """Request the status while the page waits for more lines, and print the slowest answer."""
    ended = threading.Event()
    spent: list[float] = []

    def client() -> None:
        while not ended.is_set():
            spent.extend(ask(address, ["/api/status"] * 20).seconds)

    thread = threading.Thread(target=client)
    thread.start()
    _next(page)
    page.locator(".delta .plus").nth(2).wait_for(state="attached")
    ended.set()
    thread.join()
    longest = max(spent) * 1e3
    print(f"       another client meanwhile: {len(spent)} answers, the slowest {longest:.0f} ms")


def resident(file: Path) -> float:
    """Return the peak memory of the server of a file. Units: MB."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if b"inspect" in command and str(file).encode() in command:
                status = (process / "status").read_text()
                return int(status.split("VmHWM:")[1].split()[0]) / 1e3
        except (OSError, IndexError):
            continue
    raise LookupError(f"no server of {file} is running")


def main(sizes: list[int]) -> None:
    """Measure each size."""
    found = os.environ.get("IRKIT_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for lines in sizes:
            file = Path(folder) / f"{lines}.trace"
            made = large_trace(PASSES, lines, 20)
            Trace(made.steps, title=f"{lines} lines").save(file)
            begun = time.perf_counter()
            with serving(file) as address:
                spent = time.perf_counter() - begun
                print(f"{lines} lines, {PASSES} passes: served and read in {spent:.1f} s")
                page = browser.new_page()
                measure(page, address, lines)
                others_wait(address, page)
                print(f"       the server took {resident(file):.0f} MB at most")
                page.close()
        browser.close()


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
