"""Learn what the closed formulas get wrong, from measurements: gradient boosting, if it is there.

The model predicts the logarithm of measured over estimated time, so before it has learned anything
the estimate stands. A second one also knows the assembly, of candidates that were built; it learns
from measurements that have counts of this version's kinds only, and a file without any serves, too.
LightGBM is imported here only, and only in the process that searches: its threads would hang a
process that forks.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import FormatError, atomic_write
from irkit.tune.cost.instruction_mix import MIX_VERSION

_FEWEST = 24
"""Measurements below which nothing is learned."""
_MOST = 4000
"""Measurements to learn from; of more, the last ones."""
_ROUNDS = 60
_FORMATS = (2, 3)
"""Versions of the file that are read; the first had no assembly. The last one is written."""
_MOST_BYTES = 16 << 20
"""Size of a file of measurements: `save` writes at most 5 MB."""
_SETTINGS = {
    "objective": "l2",
    "num_leaves": 15,
    "min_data_in_leaf": 4,
    "learning_rate": 0.12,
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 1,
}
Rows = Sequence[Sequence[float]]


class Residual:
    """A model of the time that an estimate misses: rows of features, and what was measured.

    Rows of several tasks may be mixed, so that a new task begins with what is known. Without
    lightgbm, :meth:`predict` returns zeros.
    """

    def __init__(self) -> None:
        self.rows: list[list[float]] = []
        self.errors: list[float] = []
        self.mixes: list[list[float]] = []
        self._model: Any = None
        self._closer: Any = None
        self._learned: int = 0

    @property
    def available(self) -> bool:
        """True if lightgbm is installed."""
        return find_spec("lightgbm") is not None

    @property
    def has_learned(self) -> bool:
        """True if predictions are other than zero."""
        return self._model is not None

    @property
    def knows_assembly(self) -> bool:
        """True if predictions about what was built take its assembly into account."""
        return self._closer is not None

    def add(
        self, row: Sequence[float], estimate: float, seconds: float, mix: Sequence[float] = ()
    ) -> None:
        """Add a measurement, with the features of its assembly if there are any. Units: any for the
        estimate, the same in all; seconds."""
        if 0 < estimate < float("inf") and seconds > 0:
            self.rows.append([float(each) for each in row])
            self.mixes.append([float(each) for each in mix])
            self.errors.append(float(np.log(seconds / estimate)))

    def learn(self) -> None:
        """Learn from all measurements, if there are new ones, and enough."""
        count = len(self.rows)
        if count < _FEWEST or count == self._learned or not self.available:
            return
        try:
            lightgbm: Any = import_module("lightgbm")
        except (ImportError, OSError):  # Installed in part, or without a library of the system.
            self._learned = count
            return
        rows, errors, mixes = self.rows[-_MOST:], self.errors[-_MOST:], self.mixes[-_MOST:]
        self._model = _trained(lightgbm, rows, errors)
        built = [at for at, mix in enumerate(mixes) if mix]
        if len(built) >= _FEWEST:
            joined = _joined([rows[at] for at in built], [mixes[at] for at in built])
            self._closer = _trained(lightgbm, joined, [errors[at] for at in built])
        self._learned = count

    def predict(self, rows: Rows) -> NDArray[np.float64]:
        """Return the logarithm of measured over estimated time for each row."""
        return _predicted(self._model, rows)

    def predict_built(self, rows: Rows, mixes: Rows) -> NDArray[np.float64]:
        """Return the same of candidates whose assembly is known, a mix for each row: the mean of
        both models, which errs less than either."""
        if self._closer is None:
            return self.predict(rows)
        return (_predicted(self._closer, _joined(rows, mixes)) + self.predict(rows)) / 2

    def save(self, path: str | Path) -> None:
        """Write all measurements to a file: other runs begin with them."""
        with atomic_write(path) as made:
            kept = (self.rows[-_MOST:], self.errors[-_MOST:], self.mixes[-_MOST:])
            data = _Measurements(_FORMATS[-1], *kept, MIX_VERSION)
            made.write_bytes(msgspec.json.encode(data))

    def load(self, path: str | Path) -> None:
        """Add the measurements of a file that :meth:`save` wrote, and learn from them.

        Raises: FormatError if it is damaged, or too large to be one.
        """
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise FormatError(
                f"{path} has more than {_MOST_BYTES >> 20} MiB; what a search has learned has less"
            )
        try:
            found = msgspec.json.decode(data, type=_Measurements)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise FormatError(f"{path} is not what a search has learned: {error}") from None
        mixes = found.mixes or [[] for _ in found.rows]
        every = [*found.errors, *(number for row in (*found.rows, *mixes) for number in row)]
        whole = len(found.rows) == len(found.errors) == len(mixes) and all(map(isfinite, every))
        if found.format not in _FORMATS or not whole:
            raise FormatError(f"{path} is not what a search has learned, or of another version")
        self.rows += found.rows[-_MOST:]
        self.errors += found.errors[-_MOST:]
        same = found.mix == MIX_VERSION
        self.mixes += [mix if same else [] for mix in mixes[-_MOST:]]
        self.learn()


class _Measurements(msgspec.Struct, frozen=True):
    format: int
    rows: list[Annotated[list[float], msgspec.Meta(max_length=64)]]
    errors: list[float]
    mixes: list[Annotated[list[float], msgspec.Meta(max_length=64)]] = []
    mix: int = 0


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation; 0 for fewer than three pairs."""
    if len(one) < 3:
        return 0.0
    a, b = _ranks(one), _ranks(other)
    if not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the ranks of numbers; equal ones share the middle of theirs."""
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[inverse]


def _trained(lightgbm: Any, rows: Rows, errors: Sequence[float]) -> Any:
    data = lightgbm.Dataset(_table(rows), label=np.asarray(errors))
    return lightgbm.train(_SETTINGS, data, num_boost_round=_ROUNDS)


def _predicted(model: Any, rows: Rows) -> NDArray[np.float64]:
    if model is None or not rows:
        return np.zeros(len(rows))
    width = model.num_feature()
    table = _table(rows)
    if table.shape[1] < width:
        table = np.pad(table, ((0, 0), (0, width - table.shape[1])))
    return np.asarray(model.predict(table[:, :width]), np.float64)


def _joined(rows: Rows, mixes: Rows) -> list[list[float]]:
    """Return rows with the mixes first: those have one length, and rows have several."""
    return [[*mix, *row] for row, mix in zip(rows, mixes, strict=True)]


def _table(rows: Rows) -> NDArray[np.float64]:
    width = max(map(len, rows))
    made = np.zeros((len(rows), width))
    for at, row in enumerate(rows):
        made[at, : len(row)] = row
    return made
