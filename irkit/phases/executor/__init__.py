"""The executor of a model, from a lowered graph function.

Reading order: tensor_specs (inputs and outputs), state_names (outputs written over inputs, as a
caller names them), kernel_calls (each kernel fits its calls), planned_prefixes (sizes that a run
measures), planner (places and calls),
fused_operators (what a call computes, for people).
"""
