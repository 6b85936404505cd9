"""The page in a real browser, by clicking and by keyboard."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server.http_server import Server
from tests.draws import sampled
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import (
    FAILING,
    MATMUL,
    hostile_trace,
    matmul_trace,
    opened,
    opened_model,
    relu_model,
)

Open = Callable[..., Page]
CHOSEN = "#pass-list [aria-current=true]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened(matmul_trace(tmp_path_factory.mktemp("trace")))) as made:
        yield made


@pytest.fixture
def visit(watch: Watch, server: Server) -> Open:
    def go(place: str = "", width: int = 1280, at: Server = server) -> Page:
        watched = watch(width)
        watched.page.set_default_timeout(8_000)
        watched.page.goto(f"{at.address}#{place}")
        watched.page.wait_for_selector(".lines, .card, .error, .view-box")
        return watched.page

    return go


def test_the_list_shows_passes_by_phase_and_what_they_did_in_words_too(visit: Open) -> None:
    page = visit()
    headings = page.locator("#pass-list h2").all_inner_texts()
    assert headings == ["1 · flat", "2 · loops", "3 · cleanup"]
    assert page.locator(".pass").count() == 25
    changed = page.locator(".pass", has_text="lower-init-blocks")
    expect(changed).to_contain_text("changed: ")
    expect(changed.locator(".delta")).to_have_text(re.compile(r"\+1 .1"))
    expect(page.locator(".pass", has_text="storage-rewrite")).to_contain_text("changed nothing: ")


def test_the_first_pass_that_changed_something_is_shown_beside_what_was_before(visit: Open) -> None:
    page = visit()
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")
    expect(page.locator(".row .gone")).to_contain_text("with init():")
    expect(page.locator(".row .come")).to_contain_text("if vk == 0:")
    expect(page.locator("#change")).to_have_text("1 change")
    assert page.locator(".gone .sign").inner_text() == "\u2212"


def test_keys_go_through_the_passes(visit: Open) -> None:
    page = visit()
    page.keyboard.press("j")
    expect(page.locator(CHOSEN)).to_contain_text("lower-blocks")
    page.keyboard.press("h")
    expect(page.locator(".pass")).to_have_count(6)
    page.keyboard.press("j")
    expect(page.locator(CHOSEN)).to_contain_text("flatten-buffers")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")


def test_keys_go_through_the_changes(visit: Open) -> None:
    page = visit("step=4")
    expect(page.locator("#change")).to_have_text(re.compile(r"\d+ changes?"))
    page.keyboard.press("n")
    expect(page.locator("#change")).to_have_text(re.compile(r"^1 of"))
    expect(page.locator(".row.current")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("#change")).to_have_text(re.compile(r"^1 of"))


def test_keys_do_nothing_while_somebody_types(visit: Open) -> None:
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type("jjuh?")
    expect(page.locator("#search")).to_have_value("jjuh?")
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#found")).to_contain_text("Not found before or after any pass")


def test_one_column_shows_what_went_above_what_came(visit: Open) -> None:
    page = visit()
    page.keyboard.press("u")
    expect(page.locator(".lines.inline")).to_be_visible()
    texts = page.locator(".row.removed, .row.added").all_text_contents()
    assert ["init" in texts[0], "vk == 0" in texts[1]] == [True, True]
    page.click("#menu-button")
    page.click("#inline")
    expect(page.locator(".lines.sides")).to_be_visible()


def test_folded_lines_come_when_asked_for(visit: Open) -> None:
    page = visit()
    assert page.locator(".row").count() < 12
    page.click("text=Show 5 unchanged lines")
    expect(page.locator(".row", has_text="def matmul")).to_be_visible()
    expect(page.locator(".fold")).to_have_count(0)
    page.keyboard.press("x")
    expect(page.locator("#whole")).to_have_attribute("aria-pressed", "true")


def test_filters_by_name_and_by_touched_text(visit: Open) -> None:
    page = visit()
    page.keyboard.press("g")
    page.keyboard.type("simplify")
    expect(page.locator(".pass")).to_have_count(2)
    page.fill("#filter", "no such pass")
    expect(page.locator("#pass-list")).to_contain_text("No pass matches")
    page.fill("#filter", "")
    page.click("#menu-button")
    page.fill("#touches", "axis.reduce")
    expect(page.locator(".pass")).to_have_count(1)
    expect(page.locator(".pass")).to_contain_text("lower-blocks")


def test_a_link_brings_everything_back(visit: Open) -> None:
    page = visit()
    page.keyboard.press("j")
    page.keyboard.press("u")
    page.keyboard.press("b")
    page.keyboard.press("h")
    page.wait_for_selector("#view:not([aria-busy]) .inline.blamed")
    page.locator(".row.added .code").first.click()
    expect(page.locator("#line-details")).to_contain_text("Last changed by")
    place = page.evaluate("location.hash.slice(1)")
    other = visit(place)
    assert other.evaluate("location.hash.slice(1)") == place
    expect(other.locator(CHOSEN)).to_contain_text("lower-blocks")
    expect(other.locator(".lines.inline.blamed")).to_be_visible()
    expect(other.locator("#hide")).to_be_checked()
    expect(other.locator(".row.chosen")).to_be_visible()
    expect(other.locator("#line-details")).to_contain_text("Last changed by")
    other.reload()
    other.wait_for_selector(".row.chosen")
    assert other.evaluate("location.hash.slice(1)") == place


def test_the_back_button_goes_to_the_pass_before(visit: Open) -> None:
    page = visit()
    page.keyboard.press("j")
    expect(page.locator(CHOSEN)).to_contain_text("lower-blocks")
    page.go_back()
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")


def test_any_two_stages_are_compared(visit: Open) -> None:
    page = visit("step=24")
    page.click("#menu-button")
    page.select_option("#from", "0.0.b")
    expect(page.locator(".gone", has_text="with init()").first).to_be_visible()
    assert "from=0.0.b" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#from")).to_have_value("")


def test_blame_names_the_pass_that_changed_a_line_and_leads_there(visit: Open) -> None:
    page = visit("step=24&whole=1")
    page.click("#menu-button")
    page.click("#blame")
    page.keyboard.press("Escape")
    expect(page.locator(".who", has_text="narrow-indices").first).to_be_visible()
    page.locator(".who", has_text="flatten-buffers").first.click()
    expect(page.locator(CHOSEN)).to_contain_text("flatten-buffers")


def test_a_line_tells_where_it_was_written(visit: Open) -> None:
    page = visit("step=3")
    page.locator(".row.same .code", has_text="vi = axis").last.click()
    expect(page.locator("#line-details")).to_contain_text("Comes from")
    expect(page.locator(".origins")).to_contain_text("matmul.irs:")


def test_search_finds_text_after_every_pass_and_leads_there(visit: Open) -> None:
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type("vk == 0")
    first = page.locator("#found button").first
    expect(first).to_contain_text("after 3 lower-init-blocks")
    page.keyboard.press("Enter")
    expect(page.locator(".row.chosen")).to_contain_text("vk == 0")
    page.keyboard.press("/")
    page.fill("#search", "vk.*==")
    expect(page.locator("#found")).to_contain_text("Not found before or after any pass")
    page.check("#regex", force=True)
    found = page.locator("#found button").first
    # A child matches, and starts late on a busy machine.
    expect(found).to_contain_text("lower-init-blocks", timeout=30_000)
    page.fill("#search", "(")
    expect(page.locator("#found [role=alert]")).to_contain_text("not a regular expression")


def test_the_details_say_what_the_pass_is_and_show_its_source(visit: Open) -> None:
    page = visit("step=20&details=1")
    details = page.locator("#pass-details")
    expect(details).to_contain_text("max_extent")
    expect(details).to_contain_text("no_unrolled_loops")
    page.click("text=Source of the pass")
    expect(details).to_contain_text("def unroll_loops(")
    expect(details).to_contain_text("unroll_loops.py, line")


def test_the_details_have_a_table_of_the_rules_with_hits_and_time(visit: Open) -> None:
    page = visit()
    page.locator(".pass", has_text="narrow-indices").first.click()
    expect(page.locator("#pass-details h2")).to_have_text("narrow-indices")
    rules = page.locator("#pass-details table.rules")
    expect(rules.locator("thead th")).to_have_text(["rule", "hits", "ms"])
    rows = rules.locator("tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.nth(0).locator("th")).to_have_text("narrow-access")
    hits = [int(text) for text in rows.locator("td:nth-child(2)").all_inner_texts()]
    assert hits == sorted(hits, reverse=True)
    assert hits[0] > 0 == hits[-1]
    spent = [float(text) for text in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert spent[0] > 0


def test_a_pass_that_changed_nothing_says_so_and_shows_the_ir(visit: Open) -> None:
    page = visit("step=0")
    expect(page.locator("#no-change")).to_be_visible()
    expect(page.locator("#change")).to_have_text("no change")
    expect(page.locator(".row", has_text="def matmul")).to_be_visible()
    expect(page.locator("#next")).to_be_disabled()


def test_colours_follow_the_choice_and_last(visit: Open) -> None:
    page = visit()
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.click("#menu-button")
    page.select_option("#theme", "dark")
    dark = page.evaluate(colour)
    assert light != dark
    page.reload()
    page.wait_for_selector(".lines")
    assert page.evaluate(colour) == dark
    page.emulate_media(color_scheme="dark")
    page.locator("body").click(position={"x": 5, "y": 790})
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "system"
    assert page.evaluate(colour) == dark


def test_the_loop_nest_shows_what_a_pass_changed_about_it(visit: Open) -> None:
    page = visit("step=4")
    page.click("#shows >> text=Loops")
    nest = page.locator(".nest")
    expect(nest).to_contain_text("The loop nest of matmul")
    expect(nest.locator(".nest-removed", has_text="block").first).to_be_visible()
    expect(nest.locator("tbody tr", has_text="loop").first).to_contain_text("parallel")
    expect(nest.locator("tbody tr", has_text="function")).to_contain_text("524.3 k")
    nest.locator("button", has_text="j").first.click()
    expect(page.locator("#line-details")).to_contain_text("matmul.irs:3")
    assert "show=nest" in page.url


def test_llvm_ir_and_assembly_are_one_click_away_and_lead_back_to_the_ir(visit: Open) -> None:
    page = visit("step=24")
    page.set_default_timeout(30_000)
    page.click("#shows >> text=Code")
    expect(page.locator("[data-pane=llvm] .native")).to_contain_text("define", timeout=30_000)
    assembly = page.locator("[data-pane=assembly] .native")
    expect(assembly).not_to_contain_text("define")
    row = assembly.locator(".row:not([data-from='0'])").first
    expect(row).to_be_visible(timeout=30_000)
    row.click()
    expect(page.locator("#line-details")).to_contain_text("matmul.irs:")
    for name in ("ir", "llvm", "assembly"):
        assert page.locator(f"[data-pane={name}] .row.chosen").count() >= 1
    page.keyboard.press("v")
    expect(page.locator(".llvm-passes")).to_be_visible(timeout=30_000)
    page.keyboard.press("v")
    expect(page.locator("#shows [aria-pressed=true]")).to_have_text("Cost")
    page.keyboard.press("v")
    expect(page.locator(".times")).to_be_visible()
    page.keyboard.press("v")
    expect(page.locator("#counts")).to_be_visible()


def test_the_graph_of_a_model_shows_operators_that_lead_to_their_lines(
    visit: Open, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with served(opened_model(relu_model)) as at:
        page = visit("show=graph", at=at)
        box = page.locator(".box", has_text="relu").first
        expect(box).to_be_visible()
        box.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#line-details")).to_contain_text("ONNX node first/relu in relu")
        expect(page.locator("#shows >> text=Code")).to_be_hidden()


def test_help_lists_every_key(visit: Open) -> None:
    page = visit()
    page.keyboard.press("?")
    dialog = page.locator("#help")
    expect(dialog).to_be_visible()
    for key in "0jknp[]ghuxrbcaosedvzt/?":
        expect(dialog.locator("kbd", has_text=re.compile(f"^{re.escape(key)}$"))).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")


@pytest.mark.parametrize("width", sampled([390, 1280, 1920], every=3))
def test_nothing_is_wider_than_the_window(visit: Open, width: int) -> None:
    page = visit("step=4", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('view').scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
    if width == 390:
        expect(page.locator(".lines.inline")).to_be_visible()
        page.click("#tabs >> text=Passes")
        page.locator(".pass", has_text="flatten-buffers").click()
        expect(page.locator("#to")).to_contain_text("flatten-buffers")
        page.click("#tabs >> text=Details")
        expect(page.locator("#pass-details h2")).to_have_text("flatten-buffers")


def test_a_stage_that_is_not_there_falls_back_to_one_that_is(visit: Open) -> None:
    page = visit("step=9999&from=7.7.a&function=nothing&line=R1")
    expect(page.locator(CHOSEN)).to_contain_text("lower-init-blocks")


def test_a_failed_pass_is_chosen_first_and_says_what_happened(
    visit: Open, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("script")
    monkeypatch.chdir(folder)  # A folder about the failure is written there.
    (folder / "s.py").write_text(FAILING)
    with served(opened("s.py")) as at:
        page = visit("run=1", at=at)
        expect(page.locator(CHOSEN)).to_contain_text("failed: ")
        expect(page.locator("#pass-details")).to_contain_text("ValueError: boom <b>")
        expect(page.locator("#pass-details")).to_contain_text("irkit inspect s.py")
        expect(page.locator("#no-change")).to_contain_text("the IR that it was given")
        expect(page.locator(".row", has_text="def f")).to_be_visible()
        assert page.locator("#run option").count() == 2


def test_a_file_that_cannot_be_read_is_said_where_the_text_would_be(
    watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("bad") / "bad.irs"
    file.write_text("def broken(:\n")
    inspection = Inspection([str(file)])
    inspection.open()
    with served(inspection) as at:
        watched = watch()
        watched.page.goto(at.address)
        expect(watched.page.locator(".error")).to_contain_text("bad.irs:1")
        file.write_text(MATMUL)
        watched.page.click("text=Try again")
        expect(watched.page.locator(".lines")).to_be_visible(timeout=20_000)


def test_hostile_names_are_only_text(visit: Open, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(opened(hostile_trace(tmp_path_factory.mktemp("hostile")))) as at:
        page = visit("blame=1", at=at)
        page.keyboard.press("x")
        expect(page.locator(".row", has_text="alert(1)").first).to_be_visible()
        page.locator(".row .code", has_text="for").first.click()
        page.keyboard.press("/")
        page.fill("#search", "alert(1)")
        expect(page.locator("#found button").first).to_be_visible()
        assert page.locator("#view script, #view img, #found img").count() == 0
