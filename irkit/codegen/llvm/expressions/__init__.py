"""Code of expressions.

Reading order: memory_access (loads and stores, masks, gathers), conditionals (one side only),
expressions (the table from class to code).
"""
