from pathlib import Path

import msgspec
import pytest

from irkit.core import Target
from irkit.tune import Record, RecordFile, best_of, chosen_schedules, fingerprint
from irkit.tune.records import CandidateOrigin, MachineHere, Measured
from tests.tune.records.test_record_file import record


def final(number: int, *, low: float, machine: str = "", ratio: float = 2.0) -> Record:
    here = MachineHere(machine or fingerprint(), 2, 1, 2, 3)
    return msgspec.structs.replace(
        record(number),
        stage="final",
        machine=here,
        score=ratio,
        measure=Measured(1e-3, 2e-3, ratio, low, ratio * 1.1, 20),
        trace={"irkit_schedule": 1, "steps": []},
    )


def test_only_what_won_its_last_two_races_beyond_noise_is_best() -> None:
    assert not best_of([record(1), final(2, low=0.99), final(2, low=0.99)])
    won = final(1, low=1.2)
    assert best_of([won, won])[("t", fingerprint())].values == {"C.rows": 1}
    assert not best_of([won, won, final(1, low=0.9)])
    assert not best_of([final(1, low=0.9), won])
    assert not best_of([won, final(1, low=1.019)])
    assert best_of([won, final(1, low=1.021)])


def test_who_won_once_is_not_best_however_fast() -> None:
    lucky, sure = final(1, low=1.05, ratio=1.9), final(2, low=1.2, ratio=1.3)
    assert best_of([lucky, sure, sure])[("t", fingerprint())].values == {"C.rows": 2}
    other = msgspec.structs.replace(lucky, search=CandidateOrigin("another run"))
    assert not best_of([lucky, other])


def test_the_fastest_winner_counts() -> None:
    one, other = final(1, low=1.2, ratio=1.3), final(2, low=1.2, ratio=1.5)
    less = final(1, low=1.2, ratio=1.9)
    found = best_of([one, other, less, other])
    assert found[("t", fingerprint())] == other


@pytest.mark.parametrize("foreign", [False, True])
def test_what_won_elsewhere_is_used_only_if_asked(tmp_path: Path, foreign: bool) -> None:
    with RecordFile(tmp_path / "r") as file:
        for _ in range(2):
            file.append(final(1, low=1.5, machine="other-cpu"))
    chosen = chosen_schedules(tmp_path / "r", Target(), foreign=foreign)
    assert list(chosen.traces) == (["t"] if foreign else [])
    assert ("--foreign-records" in "".join(chosen.notes)) is not foreign


def test_what_won_here_goes_before_what_won_elsewhere(tmp_path: Path) -> None:
    with RecordFile(tmp_path / "r") as file:
        other = final(2, low=2.5, machine="other", ratio=3.0)
        for _ in range(2):
            file.append(final(1, low=1.5, ratio=1.6))
            file.append(msgspec.structs.replace(other, trace={"irkit_schedule": 2, "steps": []}))
    chosen = chosen_schedules(tmp_path / "r", Target(), foreign=True)
    assert '"irkit_schedule":1' in chosen.traces["t"]
