"""What every level shares. Read node, walk, rules, rewrite, descend; then module; the rest is
small."""

from irkit.core.analysis import analysis
from irkit.core.annotations import checks, structs_within
from irkit.core.descend import Visit, allowed, carried, descend
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
from irkit.core.files import replacing
from irkit.core.malformed import malformed
from irkit.core.marked import marked
from irkit.core.module import (
    Codec,
    Function,
    IRModule,
    Level,
    Listing,
    Problem,
    print_function,
)
from irkit.core.names import ALIAS, Names, Printed, is_printable, mangled
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
from irkit.core.origin import user_span
from irkit.core.recorder import Application, Recorder, Remark, current_recorder, recording, remark
from irkit.core.rewrite import any_node, free_symbols, fresh, rewrite, substitute
from irkit.core.rules import Rule, Rules, first
from irkit.core.same import equal, same, same_data, structural_hash
from irkit.core.span import Span
from irkit.core.stable import until_stable
from irkit.core.target import Target, as_target
from irkit.core.tokens import MOST_PAGE_BYTES, Coloured, page, token_class, tokens
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
    "any_node",
    "as_target",
    "binders",
    "carried",
    "checks",
    "children",
    "count_nodes",
    "current_recorder",
    "descend",
    "equal",
    "fields",
    "first",
    "free_symbols",
    "fresh",
    "is_printable",
    "malformed",
    "mangled",
    "marked",
    "page",
    "parts",
    "postorder",
    "print_function",
    "recording",
    "remark",
    "replacing",
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
    "until_stable",
    "user_span",
    "uses",
    "walk",
    "with_fields",
]
