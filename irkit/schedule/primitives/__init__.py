"""Schedule primitives: pure functions from a function to a function, one primitive a file.

Reading order: loops, threads, blocks, buffers. A primitive is legal, or raises ScheduleError and
changes nothing."""
