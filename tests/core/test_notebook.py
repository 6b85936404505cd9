"""The HTML of functions, modules and traces in a notebook."""

import subprocess
import sys
from html.parser import HTMLParser

from irkit.core import IRModule
from irkit.ir import PrimFunc, parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.text.test_highlight import HOSTILE
from tests.passes.loop.kernels import kernel


class Tags(HTMLParser):
    """Collect what a browser would read as tags and as text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags = set[str]()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def html_of(shown: PrimFunc | IRModule | Trace) -> str:
    return shown._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_a_function_shows_its_text() -> None:
    func = kernel("MATMUL")
    found = Tags(html_of(func))
    assert found.text == func.script()
    assert found.tags == {"pre", "span"}


def test_a_module_shows_every_function() -> None:
    module = IRModule({"a": kernel("MATMUL"), "b": kernel("SOFTMAX")})
    assert Tags(html_of(module)).text == module.script()


def test_hostile_names_show_as_text() -> None:
    for name in HOSTILE:
        func = kernel("MATMUL").replace(name=name)
        assert Tags(html_of(func)).tags == {"pre", "span"}
        found = Tags(html_of(Trace(trace(func), title=name)))
        assert found.tags == {"table", "caption", "tr", "th", "td"}


def test_a_trace_lists_its_steps() -> None:
    steps = Trace(trace(kernel("MATMUL")))
    text = Tags(html_of(steps)).text
    assert all(step.name in text for step in steps)


def test_what_is_too_long_is_cut() -> None:
    body = "".join(f"    A[{at}] = A[{at}] + f32({at}.0)\n" for at in range(20_000))
    func = parse(f"def f(A: f32[20000]):\n{body}")
    shown = html_of(func)
    assert len(shown.encode()) <= 200_000
    assert "more lines" in shown
    step = Trace(trace(kernel("MATMUL")))[0]
    many = html_of(Trace([step] * 5_000))
    assert len(many.encode()) <= 200_000
    assert "more steps" in many


def test_showing_loads_no_pygments() -> None:
    code = (
        "import sys; from irkit.ir import parse;"
        "f = parse('def f(A: f32[1]):\\n    A[0] = f32(0.0)\\n'); f._repr_html_();"
        "assert 'pygments' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
