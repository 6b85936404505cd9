"""Jobs on the page, in a real browser: verdicts, the guilty pass, costs, LLVM's passes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from irkit.cli.verbs import irkit
from irkit.inspector_web.server.http_server import Server
from irkit.transform import Trace
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.jobs.test_verdicts import LONG
from tests.inspector_web.jobs.verdicts_programs import step, wrong_trace
from tests.inspector_web.pages import opened
from tests.inspector_web.static.test_axe import serious

CHOSEN = "#pass-list [aria-current=true]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("wrong") / "wrong.trace"
    wrong_trace().save(path)
    with served(opened(str(path))) as made:
        yield made


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Work is done by children, which may have to wait for a processor."""
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


def visited(watch: Watch, server: Server, place: str = "", width: int = 1280) -> Page:
    page = watch(width).page
    page.set_default_timeout(20_000)
    page.goto(f"{server.address}#{place}")
    page.wait_for_selector(".lines, .view-box, .llvm-passes")
    return page


def test_verdicts_on_all_passes_stand_in_the_list_in_words_and_stay_when_loaded_anew(
    watch: Watch, server: Server
) -> None:
    page = visited(watch, server)
    page.click("#check-button")
    page.click("#check-run")
    expect(page.locator("#check-said")).to_contain_text("≠ 1 with other results")
    wrong = page.locator(".pass", has_text="spoil")
    expect(wrong.locator(".badge")).to_have_text("≠ other results")
    expect(page.locator(".pass", has_text="narrow-indices").locator(".badge")).to_contain_text("✓")
    page.locator("#check-said .link", has_text="spoil").click()
    expect(page.locator(CHOSEN)).to_contain_text("spoil")
    expect(page.locator("#verdict")).to_contain_text("C[0] is 99.5 after the pass and was ")
    expect(page.locator("#verdict")).to_contain_text("Wrong elements")
    page.reload()
    expect(page.locator("#verdict .badge")).to_have_text("≠ other results")
    assert serious(page) == []


def test_a_job_that_died_has_the_command_that_runs_it_again(watch: Watch, server: Server) -> None:
    page = visited(watch, server)
    said = {"state": "failed", "message": "The job died.", "replay": "irkit replay /x/irkit-job-1"}
    about = {"id": 9, "kind": "verdicts", "arguments": {}, "seconds": 1, "done": 0, "total": 0}
    page.route(re.compile(r"/api/jobs/\d+"), lambda route: route.fulfill(json=about | said))
    page.keyboard.press("m")
    alert = page.locator("#verdict [role=alert]")
    expect(alert).to_contain_text("The job died.")
    expect(alert.locator("code")).to_have_text("irkit replay /x/irkit-job-1")
    expect(alert.get_by_role("button", name="Copy the command")).to_be_visible()
    assert serious(page) == []


def test_one_pass_is_checked_by_a_key_and_then_more_carefully(watch: Watch, server: Server) -> None:
    page = visited(watch, server)
    page.keyboard.press("m")
    expect(page.locator("#verdict")).to_contain_text("same bits before and after, on 2 sets")
    page.click("#check-careful")
    expect(page.locator("#verdict")).to_contain_text("on 4 sets of inputs")
    expect(page.locator("#verdict")).to_contain_text("Run asinterpreter")
    expect(page.locator("#check-careful")).to_have_count(0)


def test_the_guilty_pass_is_found_by_a_key_and_the_answer_leads_to_its_difference(
    watch: Watch, server: Server
) -> None:
    page = visited(watch, server)
    page.keyboard.press("f")
    expect(page.locator(".guilty")).to_contain_text(
        "'spoil' is the first pass that changes the meaning"
    )
    page.locator("#go-guilty").focus()
    page.keyboard.press("Enter")
    expect(page.locator(CHOSEN)).to_contain_text("spoil")
    expect(page.locator(".row .come", has_text="99.5")).to_be_visible()
    expect(page.locator("#verdict")).to_contain_text("Its rewrites cannot be tried one by one")


SCRIPT = """
import irkit
from irkit.ir import parse
from irkit.phases import DEFAULT
from tests.inspector_web.jobs.verdicts_programs import COPY, spoil

irkit.lower(parse(COPY), pipeline=DEFAULT.insert(spoil, phase=2))
"""


def test_the_guilty_rewrite_in_a_pass_of_a_script_is_shown(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(SCRIPT)
    with served(opened(str(tmp_path / "wrong.py"))) as made:
        page = visited(watch, made)
        page.click("#check-button")
        page.click("#find-guilty")
        page.click("#go-guilty")
        expect(page.locator("#verdict")).to_contain_text("It is this rewrite")
        expect(page.locator("#verdict")).to_contain_text("rewrite 1 of 1: spoil")
        expect(page.locator(".guilty-diff")).to_contain_text("99.5")
        page.goto("about:blank")  # Before the server is gone.


def test_a_function_is_timed_before_and_after_a_pass_and_after_all(
    watch: Watch, server: Server
) -> None:
    page = visited(watch, server)
    page.keyboard.press("w")
    expect(page.locator("#cost")).to_contain_text(re.compile("No difference larger than|times as"))
    expect(page.locator("#cost .cost-table tbody tr")).to_have_count(2)
    expect(page.locator("#cost")).to_contain_text("measurements of each, in turn")
    page.click("#ask-costs")
    expect(page.locator(".cost-bars li").first).to_contain_text("as given")
    page.locator(".cost-bars .link").last.click()
    expect(page.locator(".cost-bars [aria-current]")).to_be_visible()
    assert serious(page) == []


def test_llvms_own_passes_follow_phase_3_and_each_shows_its_difference(
    watch: Watch, server: Server
) -> None:
    page = visited(watch, server)
    page.click("#llvm-tail")
    first = page.locator(".llvm-pass").first
    expect(first).to_have_attribute("aria-current", "true")
    expect(page.locator(".llvm-shown .row.added").first).to_be_visible()
    page.keyboard.press(".")
    expect(page.locator(".llvm-pass").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("n")
    expect(page.locator(".llvm-shown .row.current").first).to_be_visible()
    expect(page.locator("#change")).to_have_text(re.compile(r"^1 of \d+ change"))
    assert "llvm=1" in page.url
    page.reload()
    expect(page.locator(".llvm-pass").nth(1)).to_have_attribute("aria-current", "true")
    page.locator(".llvm-pass").last.click()
    expect(page.locator(".llvm-shown .note").first).to_contain_text(re.compile(r"^(\d+) of \1: "))
    assert serious(page) == []


def test_native_code_that_crashes_takes_nothing_with_it(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "crash.trace"
    Trace([step(LONG.format(20_000, ""), LONG.format(20_000, " + 900000000000"))]).save(path)
    with served(opened(str(path))) as made:
        page = visited(watch, made)
        page.keyboard.press("d")
        page.click("#check-step")
        expect(page.locator("#verdict .badge")).to_have_text("✕ does not run")
        expect(page.locator("#verdict")).to_contain_text("crashed its process with SIGSEGV")
        page.click("#ask-cost")
        expect(page.locator("#cost")).to_contain_text("crashed its process with SIGSEGV")
        page.goto("about:blank")  # Before the server is gone.


def test_work_that_does_not_end_is_cancelled_on_the_page(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "endless.trace"
    endless = LONG.format(1_000_000_000_000, "").replace("A[i]", "A[i] + C[63 - i]")
    Trace([step(endless, endless.replace("C[63", "C[62"))]).save(path)
    with served(opened(str(path))) as made:
        page = visited(watch, made)
        page.keyboard.press("d")
        page.click("#ask-cost")
        expect(page.locator("#cost .elapsed")).to_have_text(re.compile(r"\d+ s of at most 300 s"))
        page.click("#cost .job button")
        expect(page.locator("#cost")).to_contain_text("It was cancelled.")
        expect(page.locator(".lines")).to_be_visible()
        page.goto("about:blank")  # Before the server is gone.


def test_a_report_shows_verdicts_without_a_server(watch: Watch, tmp_path: Path) -> None:
    wrong_trace().save(tmp_path / "wrong.trace")
    args = ["report", str(tmp_path / "wrong.trace"), "--check"]
    for flag, name in (("-o", "a.html"), ("--json", "a.json"), ("--junit", "a.xml")):
        args += [flag, str(tmp_path / name)]
    done = CliRunner().invoke(irkit, [*args, "--summary", str(tmp_path / "a.md")])
    assert done.exit_code == 1
    assert "'spoil' on f: C[0] is 99.5 after the pass" in done.output
    found = json.loads((tmp_path / "a.json").read_text())["runs"][0]["verdicts"]
    assert [each["status"] for each in found].count("differs") == 1
    suite = Xml.parse(tmp_path / "a.xml").getroot()[0]
    assert suite.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suite if len(case)] == ["spoil"]
    assert "**gives different results. C&#91;0&#93; is 99.5" in (tmp_path / "a.md").read_text()
    page = watch().page
    page.goto((tmp_path / "a.html").as_uri())
    page.wait_for_selector(".lines")
    expect(page.locator(".pass", has_text="spoil").locator(".badge")).to_have_text(
        "≠ other results"
    )
    page.locator("#check-said .link", has_text="spoil").click()
    expect(page.locator("#verdict")).to_contain_text("C[0] is 99.5 after the pass")
    expect(page.locator("#check-buttons, #verdict button, #cost *")).to_have_count(1)
    expect(page.locator("#check-buttons")).to_be_hidden()
