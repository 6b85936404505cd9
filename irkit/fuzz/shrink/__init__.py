"""Make a failing sample small.

All that a generator does follows from the numbers it was given, so leaving numbers out and lowering
them makes any kind of sample smaller, and the result is always legal; then passes are left out,
`irkit.debug.reduce` takes loop functions apart, and graphs and models are cut. Candidates that may
crash or hang are judged in a fork. The result is a TOML file that runs again whatever becomes of
the generators.

Reading order: choices (the numbers it was drawn from), forked_judge, graphs, models, texts,
make_small.
"""
