"""Functions before and after a step, compared statement by statement.

Reading order: loads (which loads an expression performs), memory (buffers as one dimension), scope
(what holds at a statement, and what symbols stand for on either side), lanes (vectorized loops),
one_sided (what only one side has), loop_pieces (parts of a loop), lifetimes, windows and
moved_allocations (memory elsewhere), unordered_loops (of another kind), attempts, compare;
execution (both versions on symbolic memory); step.

The same statements must run in the same order; their expressions are proved equal, by what holds
there. Statements that only one side has are looked through if they have no effect of their own: a
``let``, a decided branch, a short loop that became copies, the frame of a block, a view. A loop may
run in pieces, and an allocation be elsewhere or smaller. Nothing is taken from irkit's own range
analysis, so that a fault there does not prove itself right.
"""
