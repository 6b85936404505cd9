"""What takes how long: clocks (in loops), timed_calls (kernels of a model), profile (results)."""
