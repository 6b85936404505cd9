"""Lines of loop IR and the instructions they become."""

import re

import pytest

from irkit.codegen import emit, host_target
from irkit.fuzz.generators.seed_corpus.texts import KERNELS
from irkit.inspector_web.views.native import native
from irkit.ir import PrimFunc
from tests.inspector_web.views.origin_programs import from_text


@pytest.mark.parametrize("name", ["TILED_MATMUL", "SOFTMAX", "CONV_PADDED"])
def test_a_line_leads_on_to_its_instructions(name: str) -> None:
    texts = from_text(name)
    last = texts.trace[len(texts.trace) - 1]
    assert isinstance(last.after, PrimFunc)
    made = native(texts, last.after, host_target())
    lines = texts.lines(last.index)
    for at, line in enumerate(lines, 1):
        if "] = " in line and "view(" not in line:
            emitted = [made.llvm.text[place - 1] for place in made.llvm.at(at)]
            assert any(text.lstrip().startswith("store ") for text in emitted), line
    instructions = [at for at in made.assembly.lines if at]
    assert len(set(instructions)) >= 3
    assert max(instructions) <= len(lines)
    assert not any("!dbg" in text or ".loc" in text for text in
                   (*made.llvm.text, *made.optimised.text, *made.assembly.text))  # fmt: skip


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_line_numbers_do_not_change_the_code(name: str) -> None:
    texts = from_text(name)
    last = texts.trace[len(texts.trace) - 1].after
    assert isinstance(last, PrimFunc)
    plain = emit([last], host_target())
    lined = emit([last], host_target(), lines=texts.of_function(last).starts)
    bare = [line for line in lined.splitlines() if not line.startswith(("!", "attributes"))]
    expected = [line for line in plain.splitlines() if not line.startswith(("!", "attributes"))]
    assert [re.sub(r",? !dbg !\d+", "", line) for line in bare if line] == [
        x for x in expected if x
    ]
