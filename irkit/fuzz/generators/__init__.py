"""One grammar with two drivers: what is drawn from a number is drawn by Hypothesis too. Reading
order: drawn (what a sample is), features, arguments, near, bounded (what floats may be off),
functions, operator_draws, operator_forms, operators (of topi), lanes, programs, staged,
schedules, pipelines;
graph_values, graph_draws, graph_forms, graph_meaning,
graphs; onnx_windows, onnx_draws, onnx_forms, onnx_models;
texts."""

from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.drawn import (
    KINDS,
    Allowed,
    Array,
    Kind,
    Program,
    Sample,
    Unusable,
    outputs_of,
)
from irkit.fuzz.generators.features import features_of
from irkit.fuzz.generators.graphs import draw_graph, graph_results
from irkit.fuzz.generators.onnx_models import draw_model, model_results, model_values, onnx_model
from irkit.fuzz.generators.onnx_windows import PLAIN_OPERATORS
from irkit.fuzz.generators.operator_forms import OPERATORS
from irkit.fuzz.generators.pipelines import draw_pipeline, keep_as_it_is
from irkit.fuzz.generators.programs import draw_program, leads_to_functions
from irkit.fuzz.generators.schedules import draw_scheduled, leads_to_schedules
from irkit.fuzz.generators.staged import DIRECTIVES
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
    "leads_to_functions",
    "leads_to_schedules",
    "model_results",
    "model_values",
    "onnx_model",
    "outputs_of",
]
