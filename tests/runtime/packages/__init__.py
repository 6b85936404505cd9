"""Tests of irkit.runtime.packages."""
