"""Text that every level shares. Reading order: names (printed names, one table per trace), tokens
(lines cut into coloured tokens), excerpt (the lines that something is wrong with, marked)."""
