"""A real browser on a real server, and pages that fail a test on any complaint."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal

import pytest
from playwright.sync_api import Browser, Page, Playwright, Request, ViewportSize

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server.app import create_app
from irkit.inspector_web.server.http_server import Server
from irkit.inspector_web.server.security import new_access_rules
from tests.inspector_web.pages import chromium


def launched(driver: Playwright, *, windows: bool = False) -> Iterator[Browser]:
    """Start the browser, the one with ``windows`` or the lighter one without.

    The two draw letters a little differently, so pictures are those of one.
    """
    path = chromium(windows=windows)
    if path is None:
        pytest.skip("there is no Chromium here; .ci/run installs one, IRKIT_CHROMIUM names one")
    flags = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    browser = driver.chromium.launch(executable_path=path, args=flags)
    yield browser
    if not windows:
        Watched.resting.clear()
    browser.close()


@contextmanager
def served(inspection: Inspection) -> Generator[Server]:
    """Serve an inspection for a while."""
    rules = new_access_rules()
    server = Server(create_app(inspection, rules), rules)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        # A page that outlives its server asks it for news, and complains that it is gone.
        for watched in Watched.open:
            watched.leave(f"http://127.0.0.1:{server.port}/")
        server.close()
        thread.join(10)
        inspection.close()


Look = tuple[int, int, Literal["light", "dark"]]
"""Width and height of a page, and its colours."""


class Watched:
    """A page, and all that must not happen on it."""

    open: ClassVar[list["Watched"]] = []
    resting: ClassVar[dict[Look, list["Watched"]]] = {}
    """Pages that tests are done with: a new one takes as long as loading one."""

    def __init__(
        self,
        browser: Browser,
        width: int = 1280,
        height: int = 800,
        theme: Literal["light", "dark"] = "light",
    ) -> None:
        size: ViewportSize = {"width": width, "height": height}
        self.look: Look = width, height, theme
        self.context = browser.new_context(viewport=size, color_scheme=theme)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.outside: list[str] = []
        self.page.on("console", lambda said: self.problems.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(f"dialog {dialog.message}"))
        self.context.on("request", self._seen)
        Watched.open.append(self)

    def _seen(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "file:", "blob:")):
            self.outside.append(request.url)

    def leave(self, address: str) -> None:
        """Close the pages that a server has given."""
        for page in self.context.pages:
            if page.url.startswith(address):
                page.close()

    @classmethod
    def of(cls, browser: Browser, look: Look) -> "Watched":
        """Return a page that looks like a new one."""
        resting = cls.resting.get(look)
        if not resting:
            return cls(browser, *look)
        cls.open.append(resting[-1])
        return resting.pop()

    def rest(self) -> None:
        """Leave nothing behind for the next test, and complain about what was seen."""
        Watched.open.remove(self)
        problems, outside = self.problems[:], self.outside[:]
        if self.page.is_closed() or problems or outside:
            self.context.close()
        else:
            self._forget()
        assert problems == [], problems
        assert outside == [], outside

    def _forget(self) -> None:
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        if self.page.url.startswith("http"):
            self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.page.goto("about:blank")
        self.page.unroute_all()
        self.page.emulate_media(color_scheme=self.look[2], media=None)
        self.page.set_default_timeout(30_000)
        self.context.clear_cookies()
        self.context.clear_permissions()
        Watched.resting.setdefault(self.look, []).append(self)


Watch = Callable[..., Watched]
"""Open a watched page of a width, a height, and light or dark."""
