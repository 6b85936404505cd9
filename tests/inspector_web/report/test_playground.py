"""The playground: a page about a network as files, from any server of files."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import expect

from docs.playground import write_playground
from tests.inspector_web.browser import Watch
from tests.inspector_web.pages import relu_model


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def test_a_folder_of_files_shows_a_network_and_says_what_runs_the_rest(
    tmp_path: Path, watch: Watch
) -> None:
    folder = tmp_path / "out"
    write_playground(folder, relu_model(tmp_path))
    assert [each.name for each in folder.iterdir()] == ["index.html"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        page = watch().page
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        expect(page.locator(".matrix")).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("not known")
        expect(page.locator("body")).to_contain_text("same")
        for button in ("#check-button", "#rerun-button"):
            expect(page.locator(button)).to_have_attribute("aria-disabled", "true")
        page.locator("#check-button").dispatch_event("click")
        expect(page.locator("#unavailable code")).to_contain_text("irkit inspect")
        page.keyboard.press("Escape")
        page.goto(f"http://127.0.0.1:{server.server_port}/#step=12")
        expect(page.locator(".lines")).to_be_visible()
        page.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
