"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks import (
    compiler,
    fuzzing,
    inspector,
    models,
    parallel,
    rewriting,
    schedules,
    tracing,
    vector_math,
)

models.main()
compiler.main()
fuzzing.main()
inspector.main()
parallel.main()
rewriting.main()
schedules.main()
tracing.main()
vector_math.main()
