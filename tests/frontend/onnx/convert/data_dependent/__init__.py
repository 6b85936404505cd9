"""Tests of operators whose outputs are as large as their data make them."""
