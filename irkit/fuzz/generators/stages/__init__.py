"""Random tensor expressions, chained as stages.

Reading order: theme (kinds of numbers), stages (a program under construction), values,
value_tensors, readers, stage_tensors.
"""
