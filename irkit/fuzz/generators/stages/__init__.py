"""Random tensor expressions.

Reading order: theme (kinds of numbers), stages (a program under construction), values,
value_tensors, readers, stage_tensors.
"""
