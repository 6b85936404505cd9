"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import compiler, inspector, models, parallel, rewriting, tracing, vector_math

models.main()
compiler.main()
inspector.main()
parallel.main()
rewriting.main()
tracing.main()
vector_math.main()
