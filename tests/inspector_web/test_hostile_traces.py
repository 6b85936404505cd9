"""A hostile trace is refused, or can be looked at in every view; the server survives both."""

from pathlib import Path

from irkit.core import IRKitError
from irkit.fuzz.hostile import hostile_case, trace_seeds
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web import LineTable, diff_up_to_names
from irkit.inspector_web.every_view import every_view
from irkit.inspector_web.opening import Inspection
from irkit.ir import LOOP_LEVEL
from irkit.transform import Trace
from tests.inspector_web.pages import client_of

LEVELS = (LOOP_LEVEL, GRAPH_LEVEL)


def test_every_view_of_a_trace_that_loads_is_an_answer_or_an_error_in_words(
    tmp_path: Path,
) -> None:
    path, looked_at = tmp_path / "hostile.trace", 0
    for number in range(50):
        path.write_bytes(hostile_case("trace", number))
        try:
            made = Trace.load(path, LEVELS)
        except IRKitError:
            continue
        every_view(made)
        looked_at += 1
    assert looked_at >= 8


def test_a_sound_trace_has_answers_to_nearly_everything(tmp_path: Path) -> None:
    path = tmp_path / "sound.trace"
    for data in trace_seeds():
        path.write_bytes(data)
        answered, refused = every_view(Trace.load(path, LEVELS))
        assert answered > 4 * refused


def test_a_file_cut_off_at_any_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.trace"
    data = min(trace_seeds(), key=len)
    for size in range(0, len(data), 29):
        path.write_bytes(data[:size])
        inspection = Inspection((str(path),))
        inspection.open()
        assert inspection.status().state == "failed"
        assert "mistake of irkit" not in inspection.message
        inspection.close()


def test_the_server_answers_about_hostile_traces_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "hostile.trace"
    shown = 0
    for number in range(30):
        path.write_bytes(hostile_case("trace", number))
        inspection = Inspection((str(path),))
        inspection.open()
        client = client_of(inspection)
        ready = client.get("/api/status").get_json()["state"] == "ready"
        shown += ready
        for question in (
            "/api/overview", "/api/step?run=0&step=0", "/api/diff?left=0.0.b&right=0.1.a",
            "/api/blame?state=0.1.a", "/api/nest?left=0.0.b&right=0.1.a", "/api/graph?state=0.0.a",
            "/api/search?run=0&text=i", "/api/line?state=0.0.a&line=1",
        ):  # fmt: skip
            answer = client.get(question)
            assert answer.status_code in ((200, 404) if ready else (409,)), (number, question)
        inspection.close()
    assert 4 <= shown <= 26


def test_a_line_that_gives_names_and_is_not_indented_can_be_compared_up_to_names() -> None:
    table = LineTable()
    before = table.number(["@names(a='x')", "def f(a: f32[8]):", "    a[0] = f32(1.0)"])
    after = table.number(["@names(b='y')", "def f(b: f32[8]):", "    b[0] = f32(1.0)"])
    assert diff_up_to_names(before, after, table).added == 0
