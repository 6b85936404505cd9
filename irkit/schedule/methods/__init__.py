"""The methods of a schedule, one file a kind: what a user calls, and how its references become
statements.

Reading order: loops, marks, blocks, buffers, storage, sampling. Each class extends TracedSchedule;
``irkit.schedule.Schedule`` is all of them."""
