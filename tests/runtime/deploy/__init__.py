"""Models as C libraries: their interface, and the command that makes them."""
