"""Every pair of colours that meets is far enough apart, in both themes, and no colour is written
anywhere but among the tokens."""

import re
from importlib.resources import files
from itertools import product

import pytest

STYLE = files("irkit.inspector_web") / "static" / "style"
TOKEN = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);")
CODE = tuple(f"code-{kind}" for kind in "kltfnsc")

# Text that stands on a ground, as the style sheets have it.
TEXT = [
    *product(("text", "muted"), ("back", "panel", "raised", "sunk", "chosen", "none")),
    *product(("text",), ("come", "gone", "moved", "come-word", "gone-word", "heat-1")),
    *product(("muted",), ("come", "gone", "moved")),
    *product(("accent",), ("back", "panel", "raised", "sunk", "chosen")),
    *product(("plus", "minus"), ("back", "panel", "raised", "chosen", "sunk")),
    *product(("warn",), ("back", "panel", "raised", "sunk", "chosen")),
    ("plus", "come"),
    ("minus", "gone"),
    ("moved-text", "moved"),
    ("on-accent", "accent"),
    ("on-wrong", "wrong"),
    *product(CODE, ("panel", "back", "come", "gone", "moved", "come-word", "gone-word", "chosen")),
]
# What is seen but not read: borders of fields, bars, cells that are wrong.
SHAPES = [
    *product(("edge",), ("panel", "raised", "back", "sunk")),
    *product(("accent", "wrong"), ("panel", "back", "sunk")),
    ("heat-3", "panel"),
    *product((f"band-{at}" for at in range(1, 7)), ("panel",)),
]


def colours(theme: int) -> dict[str, str]:
    """Read the tokens of a theme: 0 for light, 1 for dark."""
    found = TOKEN.findall((STYLE / "tokens.css").read_text(encoding="utf-8"))
    return {name: pair[theme] for name, *pair in found}


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def too_close(theme: int, pairs: list[tuple[str, str]], least: float) -> list[str]:
    known = colours(theme)
    return [
        f"{front} on {ground}: {contrast(known[front], known[ground]):.2f}"
        for front, ground in pairs
        if contrast(known[front], known[ground]) < least
    ]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_shapes_stand_out_from_what_they_stand_on(theme: int) -> None:
    assert too_close(theme, TEXT, 4.5) == []
    assert too_close(theme, SHAPES, 3.0) == []


def test_contrast_is_that_of_wcag_and_harm_is_found() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert too_close(0, [("line", "panel")], 4.5) != []


def test_every_token_of_text_is_in_the_table() -> None:
    named = {name for pair in (*TEXT, *SHAPES) for name in pair}
    # Lines between panels and the paler heats only repeat what words and numbers say.
    assert set(colours(0)) - named == {"line", "heat-2", "heat-4"}


def test_colours_are_written_among_the_tokens_only() -> None:
    for file in STYLE.iterdir():
        if file.name == "tokens.css":
            continue
        text = file.read_text(encoding="utf-8")
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[\s;,)])", text) == [], file.name
        assert "light-dark(" not in text, file.name
