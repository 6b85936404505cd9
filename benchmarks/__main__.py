"""Run every benchmark: ``python -m benchmarks``."""

from benchmarks.compiler import candidates, overhead, rewriting, tracing
from benchmarks.fuzz import case_rate
from benchmarks.inspector import large_traces
from benchmarks.native_code import dynamic_shapes, parallel, peer_rounds, vector_math
from benchmarks.schedules import examples

peer_rounds.main(["squeezenet"])
dynamic_shapes.main()
overhead.main()
candidates.main()
case_rate.main()
large_traces.main()
parallel.main()
rewriting.main()
examples.main()
tracing.main()
vector_math.main()
