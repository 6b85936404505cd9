"""One grammar with two drivers: what is drawn from a number is drawn by Hypothesis too. Reading
order: drawn (what a sample is), features, arguments, near, bounded (what floats may be off),
functions, operator_draws, operator_forms, operators (of topi), lanes, programs, staged,
schedules, pipelines;
graph_values, graph_draws, graph_forms, graph_meaning,
graphs; onnx_windows, onnx_draws, onnx_forms, onnx_models;
texts."""

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
    Allowed as Allowed,
    Array as Array,
    Kind as Kind,
    Program as Program,
    Sample as Sample,
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
