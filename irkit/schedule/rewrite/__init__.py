"""IR that several primitives build.

Reading order: clone (copies with names of their own), nests (loops around a block), regenerate (a
block under loops over the part that is needed), reduction_init, consecutive_loops, staged_copy,
pointwise_consumer.
"""
