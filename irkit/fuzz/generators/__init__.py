"""Random samples of six kinds: programs, schedules, pipelines, graphs, ONNX models and text; and
numbers, of which each subsystem draws a case when it is judged.

All choices come from `Picks`, so a number and Hypothesis drive the same generators, and what they
draw shrinks alike. A `Theme` decides the numbers: whole ones in floats (compared bit for bit, half
of the float cases), integers of any size, fractions, special values. Expected results come from
NumPy: `te.evaluate`, the NumPy rules of graph operators, `onnx.reference`; bare loops have the
interpreter only. Tolerances are computed, not guessed: a run in f64 carries an error bound through
every operation. Chance seldom reaches some programs (recurrences, barriers, strided views, short
vectors), so generators make them on purpose; all extents are small, so every second program is
lowered without limits for small memory. One case in seven of programs and schedules starts from the
seed corpus: a legal schedule that is refused is a fault no random one can show.

Reading order: sample (what is drawn), sample_file (as text), features, arguments, expressions;
seed_corpus (written by hand), reference (NumPy's results); loops, stages, operators, programs,
schedules, graphs, onnx_models, malformed, pipelines; draw_sample (what is drawn, and how often),
strategies, coverage.
"""

from irkit.fuzz.generators.malformed.onnx_cases import (
    malformed_model as malformed_model,
)
from irkit.fuzz.generators.malformed.onnx_seeds import (
    onnx_seeds as onnx_seeds,
)
from irkit.fuzz.generators.malformed.text_cases import (
    malformed_text as malformed_text,
)
from irkit.fuzz.generators.sample import (
    KINDS as KINDS,
    PROGRAM_KINDS as PROGRAM_KINDS,
    Kind as Kind,
    Sample as Sample,
    Unusable as Unusable,
)
