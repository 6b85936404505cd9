"""Samples that are IR text: of drawn programs and graphs, as printed, or damaged. Printed text
reads back as the same program; a damaged text is an error with a location, or a program like any
other."""

from irkit.fuzz.generators.graphs.graph_samples import graph_function
from irkit.fuzz.generators.programs.program_samples import draw_program
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.malformed.inputs.text_cases import malformed_text
from irkit.fuzz.picks import Picks
from irkit.fuzz.seed_corpus.block_programs import BLUR, CHAIN, HALO, MATMUL_RELU
from irkit.fuzz.seed_corpus.thread_kernels import THREADS
from irkit.graph import script as graph_script
from irkit.ir import PrimFunc, script
from irkit.phases import GRAPH

_FIXED = tuple(text.strip() + "\n" for text in (MATMUL_RELU, CHAIN, HALO, BLUR, *THREADS.values()))


def draw_text(picks: Picks) -> Sample:
    """Draw text: as it is printed one time in four, else damaged."""
    # What is read is not lowered, so none of these passes runs.
    if not picks.below(4):
        text = _text(picks)
        # The text has only a digest of large constants, so it is a program without its data.
        return Sample("text", text, GRAPH, features=("mutation:none",), damaged="digest=" in text)
    data, names = malformed_text(picks, lambda: _text(picks))
    text = data.decode(errors="replace")
    features = tuple(f"mutation:{name}" for name in names)
    return Sample("text", text, GRAPH, features=features, damaged=True)


def _text(picks: Picks) -> str:
    form = picks.below(8)
    if form == 7:
        return graph_script(graph_function(picks, whole=True)[0])
    if form == 6:
        return picks.pick(_FIXED)
    func = draw_program(picks).ir
    assert isinstance(func, PrimFunc)
    return script(func)
