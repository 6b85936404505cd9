"""One grammar with two drivers: what is drawn from a number is drawn by Hypothesis too. Reading
order: drawn (what a sample is), features, arguments, near, bounded (what floats may be off),
functions, operator_draws, operator_forms, operators (of topi), lanes, programs, staged,
schedules, pipelines;
graph_values, graph_draws, graph_forms, graph_meaning,
graphs; onnx_windows, onnx_draws, onnx_forms, onnx_models;
texts."""

from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.graphs.graph_samples import draw_graph, graph_results
from irkit.fuzz.generators.onnx_models.model_samples import (
    draw_model,
    model_results,
    model_values,
    onnx_model,
)
from irkit.fuzz.generators.onnx_models.windows import PLAIN_OPERATORS
from irkit.fuzz.generators.operators.structured import OPERATORS
from irkit.fuzz.generators.pipelines import draw_pipeline, keep_as_it_is
from irkit.fuzz.generators.programs.program_samples import choices_of_functions, draw_program
from irkit.fuzz.generators.sample import (
    KINDS,
    Allowed,
    Array,
    Kind,
    Program,
    Sample,
    Unusable,
    outputs_of,
)
from irkit.fuzz.generators.schedules.schedule_samples import choices_of_schedules, draw_scheduled
from irkit.fuzz.generators.schedules.stage_schedules import DIRECTIVES
from irkit.fuzz.generators.texts import draw_text

__all__ = [
    "DIRECTIVES",
    "KINDS",
    "OPERATORS",
    "PLAIN_OPERATORS",
    "Allowed",
    "Array",
    "Kind",
    "Program",
    "Sample",
    "Unusable",
    "choices_of_functions",
    "choices_of_schedules",
    "draw_arguments",
    "draw_graph",
    "draw_model",
    "draw_pipeline",
    "draw_program",
    "draw_scheduled",
    "draw_text",
    "features_of",
    "graph_results",
    "keep_as_it_is",
    "model_results",
    "model_values",
    "onnx_model",
    "outputs_of",
]
