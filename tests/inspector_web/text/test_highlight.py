"""Lines as HTML: escaped, coloured and cut."""

from irkit.core import TokenHtml, token_class, tokens
from irkit.inspector_web import LineTable, Texts
from irkit.inspector_web.text.highlight import LONGEST, Highlighter
from tests.inspector_web.text.texts_programs import of

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</span><b>",
    "&lt;b&gt;",
    "a'b\"c`d",
    "<!--",
    "]]>",
    "\u202e\u2028<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "\x00<x>",
)


def test_colours_do_not_change_the_text() -> None:
    for name in HOSTILE:
        for line in (f"    for i in serial(0, {name}):", f'block("{name}")', name):
            assert "".join(tokens(line)) == line


def test_hostile_names_are_escaped_everywhere() -> None:
    table = LineTable()
    lines = [form.format(name) for name in HOSTILE for form in ("{}", '    f("{}")', "# {}")]
    ids = table.number(lines)
    marked = [Highlighter(table).line(at, ((0, 99),)) for at in ids.tolist()]
    for text in [*Highlighter(table).lines(ids), *marked]:
        bare = text
        for ours in ("<mark>", "</mark>", "</span>", *(f'<span class="{c}">' for c in "kltfnscd")):
            bare = bare.replace(ours, "")
        assert not set(bare) & set("<>\"'")


def test_a_coloured_line_is_its_coloured_tokens() -> None:
    texts = Texts(of("SOFTMAX"))
    for step in texts.trace:
        texts.of(step.index)
    colours = TokenHtml()
    for line in texts.table.lines:
        assert colours.line(line) == "".join([colours[token] for token in tokens(line)])


def test_each_token_has_its_class() -> None:
    line = '@x for i in parallel(0, 4): C[i] = f32(1.5) + exp(A[i]) "s" # c'
    kinds = [(token, token_class(token)) for token in tokens(line) if not token.isspace()]
    assert [pair for pair in kinds if pair[1] not in ("", "v")] == [
        ("@x", "d"), ("for", "k"), ("in", "k"), ("parallel(", "l"), ("0", "n"), ("4", "n"),
        ("f32(", "t"), ("1.5", "n"), ("exp(", "f"), ('"s"', "s"), ("# c", "c"),
    ]  # fmt: skip


def test_a_very_long_line_is_cut() -> None:
    table = LineTable()
    text = Highlighter(table).lines(table.number(["x" * (LONGEST + 5)]))[0]
    assert "and 5 more" in text
