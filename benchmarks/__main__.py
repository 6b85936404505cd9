"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import compiler, models

models.main()
compiler.main()
