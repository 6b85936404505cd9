"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import compiler, models, rewriting, tracing

models.main()
compiler.main()
rewriting.main()
tracing.main()
