"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import compiler, models, parallel, rewriting, tracing

models.main()
compiler.main()
parallel.main()
rewriting.main()
tracing.main()
