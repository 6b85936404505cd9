"""What every level shares. Read node, walk, rules, rewrite, descend; then module; the rest is
small."""

from irkit.core.analysis import analysis
from irkit.core.errors import (
    DTypeError,
    FormatError,
    InputError,
    IRKitError,
    OptionError,
    ParseError,
    ScheduleError,
    ShapeError,
)
from irkit.core.field_checks import check_fields, field_predicates, structs_within
from irkit.core.files import atomic_write
from irkit.core.fixpoint import fixpoint
from irkit.core.module import (
    Codec,
    Function,
    IRModule,
    Level,
    Listing,
    Problem,
    print_function,
)
from irkit.core.node import (
    Attrs,
    AttrScalar,
    AttrValue,
    Binds,
    Field,
    Node,
    Uses,
    binders,
    children,
    fields,
    parts,
    uses,
    with_fields,
)
from irkit.core.recorder import Application, Recorder, Remark, current_recorder, recording, remark
from irkit.core.rewrite import any_node, free_symbols, fresh, rewrite, substitute
from irkit.core.rules import Rule, Rules, first
from irkit.core.same import equal, same, same_data, structural_hash
from irkit.core.span import Span, user_span
from irkit.core.target import Target, as_target
from irkit.core.text.excerpt import annotate_source
from irkit.core.text.names import ALIAS, Names, Printed, is_printable, mangled
from irkit.core.text.tokens import MOST_PAGE_BYTES, Coloured, page, token_class, tokens
from irkit.core.visit import Visit, allowed, visit, with_span_of
from irkit.core.walk import count_nodes, postorder, symbols_bound, symbols_used, walk

__all__ = [
    "ALIAS",
    "MOST_PAGE_BYTES",
    "Application",
    "AttrScalar",
    "AttrValue",
    "Attrs",
    "Binds",
    "Codec",
    "Coloured",
    "DTypeError",
    "Field",
    "FormatError",
    "Function",
    "IRKitError",
    "IRModule",
    "InputError",
    "Level",
    "Listing",
    "Names",
    "Node",
    "OptionError",
    "ParseError",
    "Printed",
    "Problem",
    "Recorder",
    "Remark",
    "Rule",
    "Rules",
    "ScheduleError",
    "ShapeError",
    "Span",
    "Target",
    "Uses",
    "Visit",
    "allowed",
    "analysis",
    "annotate_source",
    "any_node",
    "as_target",
    "atomic_write",
    "binders",
    "check_fields",
    "children",
    "count_nodes",
    "current_recorder",
    "equal",
    "field_predicates",
    "fields",
    "first",
    "fixpoint",
    "free_symbols",
    "fresh",
    "is_printable",
    "mangled",
    "page",
    "parts",
    "postorder",
    "print_function",
    "recording",
    "remark",
    "rewrite",
    "same",
    "same_data",
    "structs_within",
    "structural_hash",
    "substitute",
    "symbols_bound",
    "symbols_used",
    "token_class",
    "tokens",
    "user_span",
    "uses",
    "visit",
    "walk",
    "with_fields",
    "with_span_of",
]
