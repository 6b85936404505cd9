"""What passes did, for people. Reading order: line_table (where a node is printed), summary
(numbers), remarks, unused_passes, pass_times, step_printer (IR around passes), golden_files,
console and tables."""
