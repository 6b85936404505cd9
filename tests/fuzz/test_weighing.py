"""What no case shows is weighed: does the change do anything, and is the place reached at all?"""

import numpy as np
import pytest

from irkit.fuzz.hunting import Hunt, hunting_score, hunting_table, hunts
from irkit.fuzz.hunting.changes import games_of, hunt_changes
from irkit.fuzz.hunting.places import FAMILIES
from irkit.fuzz.mutants import Mutant, as_it_is, mutants, mutants_by_turns, probed, sites
from irkit.fuzz.probe import NAME, Probe
from irkit.fuzz.quarry import Weighed

FAMILIES_OF_THE_ISSUE = {
    "flatten",
    "vectorize",
    "unroll",
    "simplify",
    "bounds",
    "thread binding",
    "storage reuse",
    "fusion",
    "ONNX conversion",
    "code generation",
}


def mutant_of(module: str, text: str) -> Mutant:
    """Find a change by a part of what it shows."""
    found = [each for each in mutants(0, len(sites(module)), [module]) if text in each.what]
    assert len(found) == 1, [each.what for each in found]
    return found[0]


def test_a_probe_counts_other_values_and_goes_on_with_what_there_was() -> None:
    probe = Probe()
    assert probe(lambda: 1) == 1
    assert probe(lambda: 1, lambda: 1) == 1
    assert probe(lambda: 1, lambda: 2) == 1
    assert probe(lambda: 1, lambda: True) == 1
    assert probe(lambda: 1, lambda: 1 // 0) == 1
    assert probe(lambda: np.arange(3), lambda: np.arange(3)).tolist() == [0, 1, 2]
    assert (probe.reached, probe.other) == (6, 3)


def test_probed_source_is_that_of_the_module_with_one_question() -> None:
    for mutant in mutants_by_turns(5, 24, list(FAMILIES.values())):
        source = probed(mutant)
        if source:
            assert source.count(NAME) == 1
            compile(source, mutant.module, "exec")
        assert source != mutant.source
        assert as_it_is(mutant.module) != mutant.source


def test_a_constant_is_shown_and_asked_with_what_it_stands_in() -> None:
    mutant = mutant_of("irkit.passes.loop.remove_no_ops", "self._counts[symbol] > 1")
    assert mutant.what == "self._counts[symbol] > 0  ->  self._counts[symbol] > 1"
    asked = "lambda: self._counts[symbol] > 0, lambda: self._counts[symbol] > 1"
    assert f"{NAME}({asked})" in probed(mutant)


def test_each_kind_of_work_is_changed_as_often_as_another() -> None:
    assert set(FAMILIES) > FAMILIES_OF_THE_ISSUE
    families = list(FAMILIES.values())
    assert all(sum(map(len, map(sites, modules))) > 100 for modules in families)
    everything = [module for modules in families for module in modules]
    assert len(set(everything)) == len(everything)
    made = list(mutants_by_turns(1, 3 * len(families), families))
    assert made == list(mutants_by_turns(1, 3 * len(families), families))
    for modules in families:
        assert sum(mutant.module in modules for mutant in made) == 3


def test_what_is_not_found_is_weighed() -> None:
    wide = "loop.var.dtype != I64 or not bounds_fit  ->  True"
    shown = "logical_or(logical_not(path.whole), holds)  ->"  # Of a pass that runs when asked for.
    games = [
        mutant_of("irkit.passes.loop.narrow_indices", wide),
        mutant_of("irkit.passes.loop.instrument_bounds", shown),
    ]
    results = list(hunts(games, Hunt(kinds=("programs",), count=12)))
    assert not any(result.caught.found for result in results)
    assert [result.caught.number for result in results] == [12, 12]
    weighed = [result.weighed for result in results if result.weighed is not None]
    assert [each.status for each in weighed] == ["means the same", "never reached"]
    assert [each.of for each in weighed] == [12, 12]
    assert hunting_table(results).row_count == 2
    score = hunting_score(results)
    assert "1 lower programs differently and mean the same, 1 are never reached" in score


@pytest.mark.parametrize(
    ("weighed", "status", "text"),
    [
        (Weighed(), "never reached", "not weighed"),
        (Weighed(9, 2), "means the same", "2 of 9 lowered differently, and mean the same"),
        (Weighed(9, 0), "never reached", "none of 9 lowered differently; never reached"),
        (
            Weighed(9, 0, 5, 3),
            "changes nothing",
            "none of 9 lowered differently; reached 5 times, with another value 3 times",
        ),
    ],
)
def test_what_is_to_be_thought_is_said(weighed: Weighed, status: str, text: str) -> None:
    assert (weighed.status, str(weighed)) == (status, text)


def test_a_hunt_that_had_no_time_tested_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr("subprocess.Popen", started)
    assert hunt_changes(Hunt(), seconds=0.0) == 2
    told = capsys.readouterr().err
    assert "stopped: the time is over" in told
    assert "nothing was tested" in told


def test_a_hunt_that_is_cut_off_saw_a_sample_of_all() -> None:
    games = games_of(3)
    assert games == games_of(3) != games_of(4)
    planted = [game for game in games[:60] if not isinstance(game, Mutant)]
    assert 20 <= len(planted) < 60
    assert len({game.module for game in games[:60]}) >= 30
