"""Checks that each step of a trace keeps the meaning of the program.

Reading order: verdict, options, difference (of arrays), rounding_error (how far floats may differ),
comparison (one step), well_defined (programs with one meaning), race_search (can iterations or
threads meet), edge_sets, tried_inputs, subject (one function through its steps), graph_numbering
and graph_region (what a pass changed of a graph), graph_subject, module_promises (what a pass over
a module must keep), schedule_steps (primitives as steps), proof, code_trial and code_check (native
code as it ships), check.

Each verdict is relative to what the pass was given, so a step after a broken one is not blamed. The
interpreter names an access out of bounds; native code runs in a child, between protected pages, and
is compiled without contraction. What differs only there is the fault of code generation. Bits must
agree. Precision is asked only where a step that declares it rounds otherwise: the original function
runs again in f64, with a bound on rounding carried along with each float. A primitive of a schedule
is judged as a pass is, in phase -1.
"""
