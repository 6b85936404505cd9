"""How fast irkit itself is."""
