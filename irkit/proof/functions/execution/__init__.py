"""Two versions of a function executed on symbolic memory, for sizes that are numbers.

Reading order: terms (what values are), memory, conflicts (loops without an order), state,
expressions and statements (from IR to Python functions), sizes, equivalence.

What is executed is every operation of both versions, so they may have any loops and buffers; the
elements they leave are compared as terms. Floats are uninterpreted as in the rest of irkit.proof.
"""
