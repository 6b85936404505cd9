"""The page about a campaign: a verdict first, everything that ran, and no text of a sample taken
for markup."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from irkit.fuzz.campaign import Campaign, page
from irkit.fuzz.campaign.page import MOST_CHARACTERS, as_page, clipped, command_of, verdict_of
from tests.fuzz.campaign.campaigns import HOSTILE, campaign_with


class Read(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements = Counter[str]()
        self.attributes = list[tuple[str, str | None]]()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_untrusted_text_of_a_finding_is_shown_and_never_markup() -> None:
    read = Read(as_page(campaign_with(findings=2)))
    assert not read.elements["script"] + read.elements["img"]
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    # In two messages, two files and their commands, two samples, a test, and among the operators.
    shown = HOSTILE.replace("\ud800", "\\ud800")
    assert read.text.count(shown) >= 9


def test_a_page_needs_no_other_file() -> None:
    text = as_page(campaign_with(findings=1))
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"'\s>)]*)""", text)
    assert all(each.startswith(("#", "data:")) or each == "x" for each in outside), outside
    assert "default-src 'none'" in text
    assert not re.search(r"https?://", text)


def test_a_page_says_what_was_run_and_found() -> None:
    text = Read(as_page(campaign_with(findings=2))).text
    for said in (
        "Failed: 2 findings",
        "2 x mismatch at lowered after my-pass",
        "came again 3 of 3 times",
        "1 stages, 0 schedule steps, 1 passes (after 55 candidates)",
        "python -m pytest found/test_small.py",
        "irkit inspect found/small.trace",
        "irkit fuzz --seed 7 --cases 200 --jobs 2 --pass 1:my.module:my_pass",
        "native code, optimised, between guard pages",
        "print and parse",
        "Never: ",
        "programs-7-0",
        "numpy",
    ):
        assert said in text, said
    assert re.search(r"my-pass\s*100\s*200\s*50\.0%", text)
    assert re.search(r"programs\s*refused\s*200\b", text)


@pytest.mark.parametrize(
    ("campaign", "name", "said"),
    [
        (campaign_with(), "passed", "Passed: 200 cases agree"),
        (campaign_with(findings=1), "failed", "Failed: 1 finding"),
        (campaign_with(fired=2), "little", "changed something in 2 of 200 cases"),
        (campaign_with(3, fired=3), "passed", "Passed: 3 cases"),
    ],
)
def test_the_verdict_says_why(campaign: Campaign, name: str, said: str) -> None:
    verdict = verdict_of(campaign)
    assert verdict.name == name
    assert said in "\n".join((verdict.title, *verdict.lines))


def test_an_interrupted_campaign_did_not_pass() -> None:
    campaign = campaign_with()
    campaign.interrupted = True
    assert verdict_of(campaign).name == "interrupted"
    assert "--cases 200" in command_of(campaign)


def test_a_campaign_without_a_case_has_a_page() -> None:
    campaign = campaign_with(0, fired=0)
    assert verdict_of(campaign).name == "little"
    assert "What each tier ran" in as_page(campaign)


def test_the_first_of_very_many_findings_are_shown_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_IN_FULL", 2)
    text = as_page(campaign_with(findings=5))
    assert text.count('<article class="finding"') == 5
    # The first is shown as shrunk, the second as drawn.
    assert text.count("def") - text.count("default") == 1


def test_a_long_text_is_cut() -> None:
    assert clipped("x" * MOST_CHARACTERS) == "x" * MOST_CHARACTERS
    assert clipped("x" * MOST_CHARACTERS + "yz").endswith("… and 2 more characters")
