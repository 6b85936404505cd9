"""Miscompiles that were written before the programs for `check_pass` changed: wrong, and right."""

from irkit.transform import AnyPass
from tests.fuzz.check_pass.fresh_graph_bugs import RIGHT_GRAPHS, WRONG_GRAPHS
from tests.fuzz.check_pass.fresh_loop_bugs import FRESH_LOOPS

WRONG: tuple[AnyPass, ...] = (*FRESH_LOOPS, *WRONG_GRAPHS)
RIGHT: tuple[AnyPass, ...] = (*(p.using(legal=True) for p in FRESH_LOOPS), *RIGHT_GRAPHS)
