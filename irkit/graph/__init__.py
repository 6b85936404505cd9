"""The graph IR. Reading order: types, nodes, arrays; then the rest."""
