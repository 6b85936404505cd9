"""Mutation testing of irkit itself: change its source, one place at a time, and see whether the
checks and the fuzzer notice. `make mutation` runs the checks, `make mutation-fuzz` the fuzzer.

A fork server has imported everything; for each change it forks, and the child imports the changed
module and its dependents anew. Before each pass the child writes its name to the parent, so that a
crash and an endless loop have a name too. Who may be blamed is computed, not listed: `runs.blame`
follows the names that each definition uses. A change that is not found may be equivalent: digests
of what the same cases are lowered to, and a probe at the changed place, tell such changes from
those that no check sees.

Reading order: changes (seeded bugs and random mutants), trials (the fork server, and what a child
process does with a change), runs. Nothing in irkit imports this folder.
"""
