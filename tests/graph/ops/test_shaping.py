"""Shape operators against NumPy."""

import numpy as np

from tests.graph.ops.references import computed, floats


def test_shaping_follows_numpy() -> None:
    x = floats(2, 3, 4)
    assert (computed("reshape", [x], shape=(4, -1)) == x.reshape(4, 6)).all()
    assert (computed("transpose", [x], axes=(2, 0, -2)) == x.transpose(2, 0, 1)).all()
    assert (computed("transpose", [x]) == x.T).all()
    assert computed("expand_dims", [x], axes=(0, -1)).shape == (1, 2, 3, 4, 1)
    assert computed("squeeze", [x[:1]], axes=(0,)).shape == (3, 4)
    assert computed("broadcast_to", [x[:, :1]], shape=(5, -1, 3, 4)).shape == (5, 2, 3, 4)
    assert (computed("concat", [x, x[:, :1]], axis=-2) == np.concatenate([x, x[:, :1]], 1)).all()
