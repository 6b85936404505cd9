"""Samples survive a trip through a file, and files that are not samples are refused."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from irkit.core import FormatError, IRKitError
from irkit.fuzz.generators.sample import KINDS, Kind
from irkit.fuzz.generators.sample_file import read_sample, sample_text
from tests.draws import sampled
from tests.fuzz.shrink.test_make_small import drawn


def _told(value: object) -> list[str]:
    """Return the text of each number: to NumPy, NaN of bf16 does not equal itself."""
    return [str(each) for each in np.asarray(value).ravel()]


@pytest.mark.parametrize("kind", sampled(KINDS, every=3))
def test_samples_are_the_same_after_a_file(kind: Kind, tmp_path: Path) -> None:
    for number in range(8):
        sample = drawn(kind, number)
        path = tmp_path / "sample.toml"
        path.write_text(sample_text(sample, {"why": "a reason\nof two lines"}), "utf-8")
        again = read_sample(path)
        assert sample_text(again, {}) == sample_text(sample, {})
        for old, new in zip(sample.inputs, again.inputs, strict=True):
            for a, b in zip(old.args, new.args, strict=True):
                assert np.asarray(a).dtype == np.asarray(b).dtype
                assert _told(a) == _told(b)
                assert np.array_equal(np.signbit(a), np.signbit(b)) or np.isnan(a).any()


def test_a_changed_file_is_refused_or_read(tmp_path: Path) -> None:
    text = sample_text(drawn("programs", 3), {}).encode()
    path = tmp_path / "sample.toml"
    for number in range(300):
        random = np.random.default_rng(number)
        data = bytearray(text)
        at = int(random.integers(len(data)))
        if number % 3:
            data[at] = int(random.integers(256))
        else:
            del data[at:]
        path.write_bytes(data)
        with suppress(IRKitError):
            assert sample_text(read_sample(path), {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("irkit_sample = 1", "irkit_sample = 2"),
        ('kind = "programs"', 'kind = "else"'),
        ('dtype = "', 'dtype = "object", was = "'),
        ("rung = ", 'rung = "no such"\nwas = '),
    ],
)
def test_a_file_that_is_not_a_sample_is_refused(old: str, new: str, tmp_path: Path) -> None:
    text = sample_text(drawn("programs", 3), {})
    assert old in text
    path = tmp_path / "sample.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(FormatError):
        read_sample(path)
