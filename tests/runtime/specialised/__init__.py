"""Tests of irkit.runtime.specialised."""
