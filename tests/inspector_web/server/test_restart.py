"""What the page says of a restart, a link that leads nowhere, and mistakes in a watched file."""

import threading
import time
from pathlib import Path

from playwright.sync_api import Browser, expect

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server.app import create_app
from irkit.inspector_web.server.http_server import Server
from irkit.inspector_web.server.security import new_access_rules
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import MATMUL, matmul_trace, opened
from tests.inspector_web.test_load import until

TOKEN = "t" * 32


def _served_at(file: str, port: int, token: str):
    rules = new_access_rules(token=token)
    return Server(create_app(opened(file), rules), rules, port=port)


def test_a_page_connects_again_to_a_server_with_the_same_token_or_says_what_to_do(
    browser: Browser, tmp_path: Path
) -> None:
    file = matmul_trace(tmp_path)
    page = browser.new_page()  # It complains about a server that is gone.
    port = 0
    for token in (TOKEN, TOKEN, "u" * 32):
        server = _served_at(file, port, token)
        port = server.port
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        if page.url == "about:blank":
            page.goto(f"{server.address}#step=7")
        if token == TOKEN:
            expect(page.locator("#to")).to_have_text("flatten-buffers")
            expect(page.locator("#lost")).to_have_count(0, timeout=15_000)
            assert "step=7" in page.url
            page.keyboard.press("j")
            page.keyboard.press("k")
        else:
            expect(page.locator("#lost")).to_contain_text("under another address", timeout=15_000)
            expect(page.locator("#lost code")).to_contain_text("step=7")
        server.close()
        thread.join(10)
        if token == TOKEN:
            page.evaluate("fetch('/api/status').catch(() => 0)")
            page.keyboard.press("n")
            page.locator("#menu-button").click()
            page.keyboard.press("Escape")
            page.keyboard.press("j")
            expect(page.locator("#lost")).to_contain_text("does not respond", timeout=15_000)
            page.keyboard.press("k")
    page.close()


def test_a_link_to_what_is_not_there_says_so(watch: Watch, tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path))) as server:
        page = watch().page
        page.goto(f"{server.address}#run=4&step=999&from=0.77.a")
        expect(page.locator("#bad-link")).to_have_text(
            "This address names run 5, which the opened file does not have. Here is what it has."
        )
        page.evaluate("location.hash = '#step=999&from=0.77.a'")
        expect(page.locator("#bad-link")).to_contain_text("pass 999 and the stage to compare from")
        page.evaluate("location.hash = '#step=7'")
        expect(page.locator("#bad-link")).to_have_count(0)
        # What is found is shown, not only where.
        page.keyboard.press("/")
        page.locator("#search").fill("axis.reduce")
        expect(page.locator("#found .found-line").first).to_have_text("vk = axis.reduce(64, k)")


def test_a_mistake_in_a_watched_file_is_shown_within_a_second_over_what_is_out_of_date(
    watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "f.irs"
    path.write_text(MATMUL)
    inspection = Inspection((str(path),), watch=True)
    inspection.start()
    with served(inspection) as server:
        page = watch().page
        page.goto(server.address)
        expect(page.locator("#to")).to_have_text("lower-init-blocks", timeout=30_000)
        until(lambda: inspection._next is not None)  # pyright: ignore[reportPrivateUsage]
        time.sleep(0.5)  # The next process is started in advance.
        path.write_text(MATMUL.replace("for k in", "for 3k in"))
        expect(page.locator("#problem")).to_contain_text("f.irs:4:", timeout=10_000)
        expect(page.locator("#body")).to_have_class("stale")
        path.write_text(MATMUL)
        expect(page.locator("#problem")).to_have_count(0, timeout=10_000)
        expect(page.locator("#body")).not_to_have_class("stale")
