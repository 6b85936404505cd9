"""The server refuses malformed traces, or shows them and goes on."""

from pathlib import Path

from benchmarks.fuzz.malformed_batches import malformed_case
from benchmarks.fuzz.trace_cases import trace_seeds
from irkit.inspector_web.load import Inspection
from tests.draws import few_or_all
from tests.inspector_web.pages import client_of


def test_a_file_cut_off_at_any_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.trace"
    data = min(trace_seeds(), key=len)
    for size in range(0, len(data), few_or_all(230, everything=29)):
        path.write_bytes(data[:size])
        inspection = Inspection((str(path),))
        inspection.open()
        assert inspection.status().state == "failed"
        assert "bug in irkit" not in inspection.message
        inspection.close()


def test_the_server_answers_about_hostile_traces_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "hostile.trace"
    shown = 0
    for number in range(30):
        path.write_bytes(malformed_case("trace", number))
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
