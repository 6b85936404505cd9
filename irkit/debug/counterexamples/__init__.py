"""Values for which the expressions of a step differ, found by computing both on many at once.

A pass that replaces one expression by another is wrong for some values of what the expression
loads. They can be few: one byte of 256, a multiple of 400, the one number that solves an equation.
A set of inputs holds some dozens of values; here both expressions are computed on thousands, as
vectors, and inputs are only made where they differ. The program decides on these inputs as on any
others, so what is found here need not be reachable.

Reading order: changed_values (which expressions changed), drawn_values, inversion (values that make
the sides of a comparison equal), crossings (the same by halving intervals), search, arguments
(inputs of the function).
"""

from irkit.debug.counterexamples.arguments import counterexample_sets as counterexample_sets
