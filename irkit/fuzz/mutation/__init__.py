"""Mutation testing of irkit itself: change its source, one place at a time, and see whether the
checks and the fuzzer notice.

A fork server has imported everything; for each change it forks, and the child imports the changed
module and its dependents anew. Before each pass the child writes its name to the parent, so that a
crash and an endless loop have a name too. Who may be blamed is computed, not listed: `runner.blame`
follows the names that each definition uses. A change that is not found may be equivalent: digests
of what the same cases are lowered to, and a probe at the changed place, tell such changes from
those that no check sees.

Reading order: seeded_bugs (a catalogue), mutants (random changes), coverage_probe, dependents,
trials (what a child process does with a change), fork_server, runner. Only the commands import this
folder.
"""
