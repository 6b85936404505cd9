"""Front ends: what reads models of other tools."""
