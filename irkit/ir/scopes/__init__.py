"""Memory scopes as a table: what irkit knows, and what a program adds.

Reading order: memory_scope (the rules of one scope), registry (by name).
"""

from irkit.ir.scopes.memory_scope import (
    MemoryScope as MemoryScope,
)
from irkit.ir.scopes.registry import (
    define_scope as define_scope,
    defined_scopes as defined_scopes,
    known_scopes as known_scopes,
    memory_scope as memory_scope,
    scope_problem as scope_problem,
)
