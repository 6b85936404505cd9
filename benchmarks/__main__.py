"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import compiler, models, rewriting

models.main()
compiler.main()
rewriting.main()
