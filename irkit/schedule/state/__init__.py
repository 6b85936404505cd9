"""References to blocks and loops, finding what they stand for (lookup), and putting other
statements in their place (replace)."""
