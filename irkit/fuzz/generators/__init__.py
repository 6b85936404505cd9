"""Random samples of six kinds: programs, schedules, pipelines, graphs, ONNX models and text.

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
loops, stages, reference, operators, programs, schedules, graphs, onnx_models; pipelines, texts;
draw_sample (the table), strategies, coverage.
"""

from irkit.fuzz.generators.arguments import (
    draw_arguments as draw_arguments,
)
from irkit.fuzz.generators.features import (
    features_of as features_of,
)
from irkit.fuzz.generators.graphs.graph_samples import (
    draw_graph as draw_graph,
    graph_results as graph_results,
)
from irkit.fuzz.generators.onnx_models.model_samples import (
    draw_model as draw_model,
    model_results as model_results,
    model_values as model_values,
    onnx_model as onnx_model,
)
from irkit.fuzz.generators.onnx_models.windows import (
    PLAIN_OPERATORS as PLAIN_OPERATORS,
)
from irkit.fuzz.generators.operators.structured import (
    OPERATORS as OPERATORS,
)
from irkit.fuzz.generators.pipelines import (
    draw_pipeline as draw_pipeline,
    keep_as_it_is as keep_as_it_is,
)
from irkit.fuzz.generators.programs.program_samples import (
    choices_of_functions as choices_of_functions,
    draw_program as draw_program,
)
from irkit.fuzz.generators.sample import (
    KINDS as KINDS,
    Array as Array,
    Kind as Kind,
    Program as Program,
    Sample as Sample,
    Tolerance as Tolerance,
    Unusable as Unusable,
    outputs_of as outputs_of,
)
from irkit.fuzz.generators.schedules.schedule_samples import (
    choices_of_schedules as choices_of_schedules,
    draw_scheduled as draw_scheduled,
)
from irkit.fuzz.generators.schedules.stage_schedules import (
    DIRECTIVES as DIRECTIVES,
)
from irkit.fuzz.generators.texts import (
    draw_text as draw_text,
)
