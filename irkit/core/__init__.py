"""What every level of IR shares: nodes, rewriting, comparison, names, errors.

Reading order: node (the base class and its field table), walk, rules, rewrite (traversal and
change); same (comparison and hashing); module (functions, modules, levels); then the rest, each a
page: recorder, recursion, analysis, errors, limits, span, field_checks, target, files, and
text (names, tokens, excerpts).

The field table (``node``) is read once from the annotations of a class: children (traversal goes
there), binders (``Binds[...]``, which introduce symbols), uses (``Uses[...]``, which refer to them)
and data. Walks, rewriting, ``same``, the verifier's scopes and trace files read that table and
nothing else. Traversal never goes below a symbol (the shape of a buffer, the type of a value), or a
rewrite would make a second symbol at a use. ``same`` and ``structural_hash`` leave out spans, names
of symbols and the function's own name, so that equal kernels are compiled once. A rule has a name,
its classes and the line it was written at; a table by class makes a miss one look-up. The recorder
is the one context variable: it counts applications, can switch one off by number, and takes
remarks.
"""

from irkit.core.analysis import (
    analysis as analysis,
)
from irkit.core.errors import (
    DTypeError as DTypeError,
    FormatError as FormatError,
    InputError as InputError,
    IRKitError as IRKitError,
    OptionError as OptionError,
    ParseError as ParseError,
    ScheduleError as ScheduleError,
    ShapeError as ShapeError,
)
from irkit.core.field_checks import (
    FieldChecker as FieldChecker,
    check_fields as check_fields,
    field_checker as field_checker,
    field_problem as field_problem,
    structs_within as structs_within,
)
from irkit.core.files.atomic_write import (
    atomic_write as atomic_write,
    cache_folder as cache_folder,
)
from irkit.core.files.signed_files import SignedFiles as SignedFiles
from irkit.core.files.source_state import own_sources as own_sources
from irkit.core.limits import (
    ALIGNMENT as ALIGNMENT,
    FARTHEST as FARTHEST,
    MOST_ELEMENTS as MOST_ELEMENTS,
    PRINT_WIDTH as PRINT_WIDTH,
    number_beyond_64_bits as number_beyond_64_bits,
)
from irkit.core.module import (
    Codec as Codec,
    Function as Function,
    IRModule as IRModule,
    Level as Level,
    Listing as Listing,
    Problem as Problem,
    print_function as print_function,
)
from irkit.core.node import (
    CHILDREN as CHILDREN,
    COLLECTED as COLLECTED,
    STATEMENTS as STATEMENTS,
    USES as USES,
    Attrs as Attrs,
    AttrScalar as AttrScalar,
    AttrValue as AttrValue,
    Binds as Binds,
    Field as Field,
    Node as Node,
    Uses as Uses,
    binders as binders,
    children as children,
    fields as fields,
    parts as parts,
    uses as uses,
    with_fields as with_fields,
)
from irkit.core.recorder import (
    Application as Application,
    Recorder as Recorder,
    Remark as Remark,
    RuleReport as RuleReport,
    allowed as allowed,
    current_recorder as current_recorder,
    recording as recording,
    remark as remark,
)
from irkit.core.recursion import (
    MAX_LEVELS as MAX_LEVELS,
    deep_recursion as deep_recursion,
)
from irkit.core.rewrite import (
    any_node as any_node,
    copy_with as copy_with,
    free_symbols as free_symbols,
    fresh as fresh,
    rewrite as rewrite,
    substitute as substitute,
    substitute_each as substitute_each,
    with_span_of as with_span_of,
)
from irkit.core.rules import (
    Rule as Rule,
    Rules as Rules,
    first as first,
    fixpoint as fixpoint,
    written_at as written_at,
)
from irkit.core.same import (
    equal as equal,
    same as same,
    same_data as same_data,
    structural_hash as structural_hash,
)
from irkit.core.span import (
    Span as Span,
    user_span as user_span,
)
from irkit.core.target.device_table import (
    DEVICE_KINDS as DEVICE_KINDS,
    DEVICE_TABLE as DEVICE_TABLE,
    DeviceRow as DeviceRow,
    device_features as device_features,
)
from irkit.core.target.target import (
    KINDS as KINDS,
    Target as Target,
    as_target as as_target,
)
from irkit.core.target.target_table import (
    TARGET_TABLE as TARGET_TABLE,
    TargetRow as TargetRow,
)
from irkit.core.text.console import (
    console as console,
)
from irkit.core.text.excerpt import (
    MAX_PROBLEMS as MAX_PROBLEMS,
    annotate_source as annotate_source,
)
from irkit.core.text.names import (
    ALIAS as ALIAS,
    Names as Names,
    PrintedNames as PrintedNames,
    UniqueNames as UniqueNames,
    is_printable as is_printable,
    mangled as mangled,
)
from irkit.core.text.tokens import (
    MAX_PAGE_BYTES as MAX_PAGE_BYTES,
    TokenHtml as TokenHtml,
    text_to_html as text_to_html,
    token_class as token_class,
    tokens as tokens,
)
from irkit.core.walk import (
    count_nodes as count_nodes,
    postorder as postorder,
    statements_postorder as statements_postorder,
    symbols_bound as symbols_bound,
    symbols_used as symbols_used,
    walk as walk,
)
