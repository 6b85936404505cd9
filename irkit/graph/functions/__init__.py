"""Functions of a graph: inline (calls become bindings), outline (a body becomes a function)."""
