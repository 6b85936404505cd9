"""Lexers of other languages: no character is lost, and names are told from all else."""

import html
import re

import pytest
from hypothesis import given, strategies as st

from irkit.inspector_web.diff.up_to_names import diff_up_to_names
from irkit.inspector_web.text.lexers import LEXERS, lexer_of
from irkit.inspector_web.text.lines import LineTable
from tests.inspector_web.dumps.samples import SAMPLES

LINES = st.text(alphabet="%@!#^$abx_.09\"\\ ;:/()<>{},=-&'", max_size=40) | st.text(max_size=20)


@given(line=LINES, language=st.sampled_from(["", *LEXERS]))
def test_the_tokens_of_a_line_are_the_line(line: str, language: str) -> None:
    lexer = lexer_of(language)
    assert "".join(lexer.cut(line)) == line
    for made in (lexer.line(line), "".join(map(lexer.html, lexer.cut(line)))):
        assert html.unescape(re.sub(r"</?span[^>]*>", "", made)) == line


@pytest.mark.parametrize(
    ("language", "line", "kinds"),
    [
        ("llvm", "  %r = fmul float %a, 0x3F ; x", "v k t v n c"),
        ("llvm", 'call void @"a b"(ptr %0) #1', "k t d t v"),
        ("mlir", "%0 = arith.addi %arg0, %c1 : tensor<4xf32> // x", "v f v v t t c"),
        ("mlir", "func.func @f() attributes {a = #map}", "f d k l"),
        ("mir", "  %0:fr32 = COPY $xmm0 # x", "v v c"),
    ],
)
def test_tokens_have_the_classes_of_their_language(language: str, line: str, kinds: str) -> None:
    lexer = lexer_of(language)
    found = [lexer.kind(token) for token in lexer.cut(line) if not token.isspace()]
    assert [kind for kind in found if kind] == kinds.split()


def test_renumbered_values_are_no_difference_up_to_names() -> None:
    table = LineTable()
    before = ["%1 = add i32 %0, 1", "ret i32 %1"]
    after = ["%2 = add i32 %0, 1", "ret i32 %2"]
    sides = [table.number(lines, "llvm") for lines in (before, after)]
    assert diff_up_to_names(sides[0], sides[1], table).added == 0
    other = table.number(["%2 = add i32 %0, 1", "ret i32 %0"], "llvm")
    assert diff_up_to_names(sides[0], other, table).added == 1


def test_a_sample_has_words_of_every_class() -> None:
    text = (SAMPLES / "mlir-after-all.txt").read_text()
    lexer = lexer_of("mlir")
    kinds = {lexer.kind(token) for line in text.splitlines() for token in lexer.cut(line)}
    assert {"v", "k", "t", "f", "n", "d", "c"} <= kinds
