"""The schedules of ``examples/schedules`` against other libraries."""
