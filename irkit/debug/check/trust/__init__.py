"""A number of trust: how many small changes to the result of a step its check would notice.

Reading order: mutants, with_trust; graph_mutants, with_graph_trust (of steps over graphs).
"""
