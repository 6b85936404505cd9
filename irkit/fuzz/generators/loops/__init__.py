"""Random loop functions, built from statements.

Reading order: nests, barrier_programs, loop_functions, lane_loops."""
