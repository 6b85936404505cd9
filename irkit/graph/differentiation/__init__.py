"""Reverse-mode differentiation of graph functions.

Reading order: applied (an operator as a rule sees it), rules (one family of operators a file),
table (every operator: its rule, or the reason why it has none), row_sums (what is added in place),
reverse (one sweep over the bindings, last to first, once calls are inlined), gradient (the function
for users).

Gradients are expressions (``TensorExpr``), so those that nobody needs are never bound.
"""
