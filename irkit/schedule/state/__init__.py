"""References to blocks and loops, finding their statements (lookup), and replacing those
(replace)."""
