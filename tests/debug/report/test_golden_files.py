"""Golden files of the IR after each phase."""

from pathlib import Path

from irkit.debug import golden_diff, phase_texts, write_golden
from tests.debug.report.annotated_steps import MODULE, PIPELINE, STEPS


def test_the_text_of_each_phase_follows_functions_that_come_and_go() -> None:
    texts = phase_texts(MODULE, STEPS, PIPELINE)
    assert sorted(texts) == [
        "f/loop0_raw.irs",
        "f/loop1_a.irs",
        "f/loop2_b.irs",
        "f/loop3_c.irs",
        "g/loop0_raw.irs",
        "g/loop1_a.irs",
        "h/loop2_b.irs",
        "h/loop3_c.irs",
    ]
    assert texts["f/loop0_raw.irs"] == MODULE["f"].script()
    assert "unrolled" in texts["f/loop1_a.irs"]
    assert texts["f/loop3_c.irs"] == texts["f/loop1_a.irs"]
    assert set(phase_texts(MODULE, STEPS, PIPELINE, only=("h",))) == {
        "h/loop2_b.irs",
        "h/loop3_c.irs",
    }


def test_golden_files_are_written_once_and_compared_byte_by_byte(tmp_path: Path) -> None:
    texts = phase_texts(MODULE, STEPS, PIPELINE)
    assert write_golden(tmp_path, texts) == len(texts)
    assert write_golden(tmp_path, texts) == 0
    assert golden_diff(tmp_path, texts) == ""
    path = tmp_path / "f" / "loop1_a.irs"
    path.write_bytes(path.read_bytes().replace(b"unrolled", b"parallel") + b"\xff")
    diff = golden_diff(tmp_path, texts)
    assert "-    for i in parallel(0, 8):\n" in diff
    assert "+    for i in unrolled(0, 8):\n" in diff
    assert diff.endswith("\n")
    assert write_golden(tmp_path, texts) == 1
