"""What a step prints does not depend on which others were looked at."""

from irkit.core import Coloured, token_class, tokens
from irkit.inspector_web import Highlighter, LineTable, Texts, diff
from irkit.inspector_web.highlight import LONGEST
from irkit.phases import trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel

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


def of(name: str) -> Trace:
    return Trace(trace(kernel(name)))


def test_texts_are_those_of_the_steps() -> None:
    steps = of("MATMUL")
    texts = Texts(steps)
    for step in steps:
        before, after = step.scripts(steps.names)
        assert "\n".join([*texts.lines(step.index, "before"), ""]) == before
        assert "\n".join([*texts.lines(step.index), ""]) == after


def test_the_order_of_looking_changes_no_name() -> None:
    steps = of("SOFTMAX")
    forwards, backwards = Texts(steps), Texts(steps)
    last = len(steps) - 1
    down = [backwards.lines(last - at) for at in range(len(steps))]
    assert [forwards.lines(at) for at in range(len(steps))] == down[::-1]


def test_a_state_is_printed_once() -> None:
    steps = of("MATMUL")
    texts = Texts(steps)
    for step in steps:
        if not step.changed:
            assert texts.of(step.index) is texts.of(step.index, "before")


def test_two_runs_of_the_same_passes_print_alike() -> None:
    table = LineTable()
    one, other = Texts(of("MATMUL"), table), Texts(of("MATMUL"), table)
    assert one.trace is not other.trace
    for at in range(len(one.trace)):
        assert not diff(one.of(at).ids, other.of(at).ids).added


def test_each_node_begins_on_its_line() -> None:
    texts = Texts(of("MATMUL"))
    ((_, part),) = texts.of(0).parts
    assert part.starts[id(part.func)] == 1


def test_colours_leave_the_text_as_it_is() -> None:
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


def test_a_line_coloured_whole_is_its_tokens_coloured() -> None:
    texts = Texts(of("SOFTMAX"))
    for step in texts.trace:
        texts.of(step.index)
    colours = Coloured()
    for line in texts.table.lines:
        assert colours.line(line) == "".join([colours[token] for token in tokens(line)])


def test_a_token_says_what_it_is() -> None:
    line = '@x for i in parallel(0, 4): C[i] = f32(1.5) + exp(A[i]) "s" # c'
    kinds = [(token, token_class(token)) for token in tokens(line) if not token.isspace()]
    assert [pair for pair in kinds if pair[1] not in ("", "v")] == [
        ("@x", "d"), ("for", "k"), ("in", "k"), ("parallel(", "l"), ("0", "n"), ("4", "n"),
        ("f32(", "t"), ("1.5", "n"), ("exp(", "f"), ('"s"', "s"), ("# c", "c"),
    ]  # fmt: skip


def test_a_line_too_long_to_read_is_cut() -> None:
    table = LineTable()
    text = Highlighter(table).lines(table.number(["x" * (LONGEST + 5)]))[0]
    assert "and 5 more" in text
