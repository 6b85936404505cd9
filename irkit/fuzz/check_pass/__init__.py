"""`check_pass`: a decorator that tests a user's pass on random programs.

`examine` lowers a program with the pass at its position, and checks the contracts of `irkit.debug`
on the pass before the pass runs: one that writes into its input leaves nothing to compare with
afterwards. The numbers of the whole lowering are compared next; a failure in a later pass is blamed
on the pass only if the lowering works without it. Hypothesis draws and shrinks, and a shrunk
program counts only if it breaks the same contract. Hypothesis knows nothing of valid cases or of
passes that fired: `tally` counts those, so its health checks are off, and so is its database,
because the `corpus` is text and is tried first. A program is on disk while it runs; one left there
by a dead process is tried in another process, and is a finding if that one dies too.

Reading order: settings, profile, position (where the pass goes), programs, examination (one program
through the lowering), pass_case (what the test sees), tally, corpus, finding, check_run (one run of
a test), check_pass.
"""
