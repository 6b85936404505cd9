"""Tests of models that are refused, and of what is said of them."""
