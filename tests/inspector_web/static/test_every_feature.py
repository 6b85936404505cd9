"""Every feature of the page is tried by mouse and by keyboard: the table names the tests."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import MATMUL, matmul_trace, opened, opened_model, relu_model

CHOSEN = "#pass-list [aria-current=true]"

TABLE = {
    "list of passes": (
        "test_the_list_is_clicked_and_reached_by_tab",
        "test_keys_go_through_the_passes",
    ),
    "filters": (
        "test_filters_are_clicked",
        "test_filters_by_name_and_by_touched_text",
    ),
    "side by side and inline": (
        "test_one_column_shows_what_went_above_what_came",
        "test_one_column_shows_what_went_above_what_came",
    ),
    "names ignored": ("test_names_are_ignored", "test_names_are_ignored"),
    "changes and folds": (
        "test_changes_are_gone_through_by_clicking",
        "test_keys_go_through_the_changes",
    ),
    "provenance": (
        "test_a_line_tells_where_it_was_written",
        "test_lines_are_gone_through_by_keys",
    ),
    "blame": (
        "test_blame_names_the_pass_that_changed_a_line_and_leads_there",
        "test_lines_are_gone_through_by_keys",
    ),
    "search and pickaxe": (
        "test_what_was_found_is_clicked",
        "test_search_finds_text_after_every_pass_and_leads_there",
    ),
    "permalink": (
        "test_a_link_brings_everything_back",
        "test_a_link_brings_everything_back",
    ),
    "list of keys": ("test_help_is_clicked", "test_help_lists_every_key"),
    "two stages of two runs": (
        "test_a_step_that_the_other_run_alone_has_stands_in_the_list",
        "test_keys_put_a_run_beside_and_change_sides",
    ),
    "loop nest": (
        "test_the_loop_nest_shows_what_a_pass_changed_about_it",
        "test_views_are_gone_through_by_a_key",
    ),
    "graph": (
        "test_a_box_of_the_graph_is_clicked",
        "test_the_graph_of_a_model_shows_operators_that_lead_to_their_lines",
    ),
    "LLVM IR and assembly": (
        "test_llvm_ir_and_assembly_are_one_click_away_and_lead_back_to_the_ir",
        "test_machine_code_of_the_results_stands_in_it_if_asked_for",
    ),
    "LLVM's passes": (
        "test_llvms_own_passes_follow_phase_3_and_each_shows_its_difference",
        "test_llvms_own_passes_follow_phase_3_and_each_shows_its_difference",
    ),
    "verdict": (
        "test_verdicts_on_all_passes_stand_in_the_list_in_words_and_stay_when_loaded_anew",
        "test_one_pass_is_checked_by_a_key_and_then_more_carefully",
    ),
    "rewrites of a pass": (
        "test_rewrites_are_gone_through_and_lead_from_the_wrong_element_back",
        "test_rewrites_are_gone_through_and_lead_from_the_wrong_element_back",
    ),
    "wrong elements": (
        "test_rewrites_are_gone_through_and_lead_from_the_wrong_element_back",
        "test_rewrites_are_gone_through_and_lead_from_the_wrong_element_back",
    ),
    "costs": (
        "test_costs_and_the_source_of_a_pass",
        "test_costs_and_the_source_of_a_pass",
    ),
    "bisect": (
        "test_the_guilty_pass_is_found_by_a_key_and_the_answer_leads_to_its_difference",
        "test_the_guilty_pass_is_found_by_a_key_and_the_answer_leads_to_its_difference",
    ),
    "re-run": (
        "test_a_pass_is_switched_off_and_the_new_run_stands_beside_the_old",
        "test_everything_can_be_done_by_keyboard",
    ),
    "time": (
        "test_the_time_of_every_pass_is_a_bar_with_its_share",
        "test_the_time_of_every_pass_is_a_bar_with_its_share",
    ),
    "failed pass": (
        "test_a_file_that_cannot_be_read_is_said_where_the_text_would_be",
        "test_a_failed_pass_is_chosen_first_and_says_what_happened",
    ),
    "source of a pass": (
        "test_the_details_say_what_the_pass_is_and_show_its_source",
        "test_the_source_is_opened_and_the_details_are_hidden_by_keys",
    ),
    "live reload": (
        "test_a_file_that_is_saved_is_shown_anew_and_mistakes_do_not_end_that",
        "test_a_file_that_is_saved_is_shown_anew_and_mistakes_do_not_end_that",
    ),
    "colours": (
        "test_colours_follow_the_choice_and_last",
        "test_colours_follow_the_choice_and_last",
    ),
}
"""Feature: the test that clicks, and the one that presses keys."""


def test_each_test_of_the_table_exists() -> None:
    known: set[str] = set()
    for file in Path(__file__).parents[1].rglob("test_*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        known |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {name for pair in TABLE.values() for name in pair} - known == set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened(matmul_trace(tmp_path_factory.mktemp("trace")))) as made:
        yield made


@pytest.fixture
def page(watch: Watch, server: Server) -> Page:
    page = watch().page
    page.set_default_timeout(8_000)
    page.goto(server.address)
    page.wait_for_selector(".lines")
    expect(page.locator(".delta").nth(3)).not_to_be_empty()
    return page


def test_the_list_is_clicked_and_reached_by_tab(page: Page) -> None:
    page.locator(".pass", has_text="flatten-buffers").click()
    expect(page.locator(CHOSEN)).to_contain_text("flatten-buffers")
    expect(page.locator("#to")).to_have_text("flatten-buffers")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(CHOSEN)).to_contain_text("narrow-indices")


def test_filters_are_clicked(page: Page) -> None:
    page.click("#menu-button")
    page.check("#hide")
    expect(page.locator(".pass")).to_have_count(6)
    page.uncheck("#hide")
    page.keyboard.press("Escape")
    expect(page.locator(".pass")).to_have_count(25)
    page.fill("#filter", "phase 3")
    expect(page.locator("#pass-list h2")).to_have_text(["3 · cleanup"])
    page.fill("#filter", "phase 2 unroll")
    expect(page.locator(".pass")).to_have_count(1)


def test_names_are_ignored(page: Page) -> None:
    page.click("#menu-button")
    page.click("#names")
    expect(page.locator("#names")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#change")).to_contain_text("change")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.locator("#names")).to_have_attribute("aria-pressed", "false")


def test_changes_are_gone_through_by_clicking(page: Page) -> None:
    page.locator(".pass", has_text="flatten-buffers").click()
    page.click("#next")
    page.click("#next")
    expect(page.locator("#change")).to_contain_text("2 of 2")
    page.click("#previous")
    expect(page.locator("#change")).to_contain_text("1 of 2")
    page.click("#menu-button")
    page.click("#whole")
    expect(page.locator(".fold")).to_have_count(0)


def test_lines_are_gone_through_by_keys(page: Page) -> None:
    page.keyboard.press("n")
    page.keyboard.press("]")
    expect(page.locator("#line-details h2")).to_have_text("Line 9 after")
    expect(page.locator("#line-details")).to_contain_text("3 lower-init-blocks")
    page.locator(".row.both .gone").click()
    expect(page.locator("#line-details h2")).to_have_text("Line 9 before")
    page.keyboard.press("[")
    expect(page.locator("#line-details h2")).to_have_text("Line 8 after")
    expect(page.locator(".origins")).to_contain_text("matmul.irs:")
    page.keyboard.press("b")
    expect(page.locator(".lines.blamed")).to_be_visible()


def test_what_was_found_is_clicked(page: Page) -> None:
    page.click("#palette-button")
    page.fill("#search", "A_flat")
    page.locator("#found button", has_text="after").first.click()
    expect(page.locator(CHOSEN)).to_contain_text("flatten-buffers")
    expect(page.locator(".row.chosen")).to_contain_text("A_flat")
    expect(page.locator("#found")).to_be_hidden()


def test_help_is_clicked(page: Page) -> None:
    page.click("#menu-button")
    page.click("#help-button")
    expect(page.locator("#help")).to_be_visible()
    page.click("#help >> text=Close")
    expect(page.locator("#help")).to_be_hidden()


def test_views_are_gone_through_by_a_key(page: Page) -> None:
    page.keyboard.press("v")
    expect(page.locator("#shows [aria-pressed=true]")).to_have_text("Rewrites")
    page.keyboard.press("v")
    expect(page.locator(".nest")).to_be_visible()
    page.locator(".nest button").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#line-details")).to_contain_text("matmul.irs:2")


def test_a_box_of_the_graph_is_clicked(watch: Watch, tmp_path: Path) -> None:
    with served(opened_model(relu_model)) as at:
        page = watch().page
        page.goto(at.address)
        page.click(".slowest button >> nth=0")
        page.click("#shows >> text=Graph")
        box = page.locator(".box", has_text="relu").first
        expect(box).to_contain_text("f32 4\u00d74")
        box.click()
        expect(page.locator("#line-details")).to_contain_text("ONNX node first/relu in relu")


def test_the_source_is_opened_and_the_details_are_hidden_by_keys(page: Page) -> None:
    page.keyboard.press("d")
    page.locator("#details summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pass-details")).to_contain_text("def lower_init_blocks(")
    page.keyboard.press("d")
    expect(page.locator("#details")).to_be_hidden()
    page.keyboard.press("d")
    expect(page.locator("#details")).to_be_visible()


def test_a_file_that_is_saved_is_shown_anew_and_mistakes_do_not_end_that(
    watch: Watch, tmp_path: Path
) -> None:
    file = tmp_path / "kernel.irs"
    file.write_text("def broken(:\n")
    inspection = Inspection([str(file)], watch=True)
    inspection.start()
    with served(inspection) as at:
        page = watch().page
        page.goto(at.address)
        expect(page.locator(".error")).to_contain_text("kernel.irs:1", timeout=20_000)
        file.write_text(MATMUL)
        expect(page.locator(".lines")).to_be_visible(timeout=20_000)
        page.goto("about:blank")
