"""``irkit opt``: placement of passes, printed IR, golden files."""

import json
from pathlib import Path

import pytest

from irkit.ir import parse as parse_loops, parse_module, script
from irkit.phases import lower
from tests.cli.command import LOOPS, call, shell
from tests.cli.shell import Shell


@pytest.mark.parametrize("stop", ["0", "1", "2", "3"])
def test_opt_prints_what_can_be_read_again(
    stop: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "opt", "add.irs", "--stop-after", stop)
    assert code == 0
    assert parse_module(out).functions["add"]
    assert ('with block("C")' in out) == (stop == "0")
    (folder / "again.irs").write_text(out)
    assert call(capsys, "opt", "again.irs", "--stop-after", stop)[:2] == (0, out)


def test_opt_reads_standard_input_and_writes_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = shell("opt", "-", "--pass", "1:my_passes:stamp", input=LOOPS)
    assert printed.returncode == 0, printed.stderr
    assert "@attrs(stamp_0=0)" in printed.stdout
    assert call(capsys, "opt", "add.irs", "-o", "out.irs") == (0, "", "")
    assert parse_module((folder / "out.irs").read_text())


KERNEL = """\
def f(A: f32[8], C: f32[8], n: i64):
    for i in unrolled(0, 4):
        C[i] = A[i]
    for j in unrolled(0, n):
        C[j] = A[j]
    for k in vectorized(0, 4):
        C[k] = A[k]
"""

GRAPH = """\
def main(x: f32[4]):
    y: f32[4] = relu(x)
    z: f32[4] = add(x, y)
    return z
"""

TWO = KERNEL + "\n" + KERNEL.replace("def f(", "def g(")

PASSES = '''
from irkit.core import IRModule, remark, rewrite
from irkit.graph import GraphFunc
from irkit.ir import For, PrimFunc, Store
from irkit.transform import define_pass


@define_pass
def tag(func: PrimFunc, *, word: str = "tag", times: int = 1) -> PrimFunc:
    """Mark every loop with an attribute; ``word`` is its name."""
    def mark(loop: For) -> For | None:
        if any(name == word for name, _ in loop.attrs):
            return None
        remark(loop, f"tagged {word}")
        return loop.replace(attrs=(*loop.attrs, (word, times)))
    return rewrite(func, mark, on=For)


@define_pass
def idle(func: PrimFunc) -> PrimFunc:
    return func


@define_pass
def idle_graph(func: GraphFunc) -> GraphFunc:
    return func


@define_pass
def breaking(func: PrimFunc) -> PrimFunc:
    return rewrite(func, lambda store: store.replace(indices=()), on=Store)


@define_pass
def whole(module: IRModule) -> IRModule:
    return module
'''


@pytest.fixture
def kernel(shell: Shell) -> str:
    shell.write("mine.py", PASSES)
    return shell.write("k.irs", KERNEL)


def test_it_prints_what_lowering_gives(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel)
    assert (done.code, done.err) == (0, "")
    assert done.out == script(lower(parse_loops(KERNEL)))
    assert shell("opt", kernel, "--stop-after", "0").out == KERNEL


@pytest.mark.parametrize(
    ("place", "phase", "neighbour"),
    [
        ("0", 0, None),
        ("1", 1, "simplify"),
        ("2", 2, "unroll-loops"),
        ("3", 3, "eliminate-common-subexpressions"),
        ("legalize", 4, "eliminate-common-subexpressions"),
        ("before=vectorize-loops", 2, "storage-rewrite"),
        ("after=vectorize-loops", 2, "vectorize-loops"),
        ("1/before=simplify", 1, "narrow-indices"),
        ("3/after=simplify", 3, "simplify"),
    ],
)
def test_a_pass_goes_to_any_place(
    shell: Shell, kernel: str, place: str, phase: int, neighbour: str | None
) -> None:
    done = shell("opt", kernel, "--pass", f"{place}:mine:tag", "--opt-bisect-limit=-1")
    assert done.code == 0, done.err
    ran = [line.split(" ")[4] for line in done.err.splitlines() if line.startswith("BISECT")]
    at = ran.index("tag")
    assert (ran[at - 1] if at else None) == neighbour
    printed = shell("opt", kernel, "--pass", f"{place}:mine:tag", "--print-ir-after=tag").err
    assert f"# IR after tag on function 'f' (phase {phase})" in printed


def test_several_passes_keep_their_options_and_their_order(shell: Shell, kernel: str) -> None:
    first, second = "0:mine:tag{word=a,times=3}", '0:mine:tag{word="b c"}'
    done = shell("opt", kernel, "--pass", first, "--pass", second, "--stop-after", "0")
    (loop,) = [line for line in done.out.splitlines() if "for i" in line]
    assert loop.index("a=3") < loop.index("b c")


def test_graph_functions_go_through_the_graph_pipeline(shell: Shell, kernel: str) -> None:
    shell.write("g.irs", GRAPH)
    args = ("--pass", "graph:mine:idle_graph", "--pass", "0:mine:tag", "--print-ir-after=tag")
    done = shell("opt", "g.irs", *args, "--opt-bisect-limit=-1")
    assert done.code == 0, done.err
    ran = [line.split(" ")[4] for line in done.err.splitlines() if line.startswith("BISECT")]
    # At the end of the first graph phase: fusion comes after it.
    assert ran.index("idle-graph") < ran.index("fuse-ops") < ran.index("tag")
    assert "tag=1" in done.err
    stopped = shell("opt", "g.irs", "--stop-after", "graph.0").out
    assert "relu(x)" in stopped
    assert "call(" in shell("opt", "g.irs", "--stop-after", "graph").out


def test_a_place_that_does_not_exist_lists_those_that_do(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--pass", "4:mine:tag")
    assert done.code == 2
    assert "no phase 4; the phases are: 0 raw, 1 flat, 2 loops, 3 cleanup" in done.err
    assert "'graph:NAME'" in done.err
    assert "'legalize:NAME'" in done.err
    done = shell("opt", kernel, "--pass", "gaph:mine:tag")
    assert "there is no place 'gaph'" in done.err
    done = shell("opt", kernel, "--pass", "before=flaten:mine:tag")
    assert "no pipeline has a pass 'flaten'" in done.err
    assert "flatten-buffers" in done.err
    done = shell("opt", kernel, "--pass", "before=simplify:mine:tag")
    assert "pass 'simplify' runs 2 times, in phases 1 and 3" in done.err
    assert "Put the phase before a slash, as in '1/before=simplify:mine:tag'" in done.err
    help_text = shell("opt", "--help").out
    assert "PHASE/before=OTHER" in " ".join(help_text.split())
    assert "no phase 9" in shell("opt", kernel, "--stop-after", "graph.9").err
    assert "is not a phase; expected 0 to 3" in shell("opt", kernel, "--stop-after", "x").err


@pytest.mark.parametrize(
    "words",
    [
        ("1:mine:tagword=a", "1:mine:tagtimes=3"),  # What bash makes of 1:mine:tag{word=a,times=3}.
        ("1:mine:tag{word=a,", "times=3}"),  # And of a text with a space.
    ],
)
def test_a_shell_that_split_a_pass_is_recognised(
    shell: Shell, kernel: str, words: tuple[str, str]
) -> None:
    for args in (
        (kernel, "--pass", *words),
        ("--pass", *words, kernel),
        (kernel, "--pass", words[0]),
    ):
        done = shell("opt", *args)
        assert done.code == 2
        assert "put quotes around it" in done.err
        assert "--pass '1:my_package.my_module:my_pass{lanes=8,tail=true}'" in done.err


def test_a_pass_that_did_nothing_is_noted(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--pass", "1:mine:idle", "--pass", "graph:mine:idle_graph")
    assert done.code == 0
    assert "note: pass 'idle' in phase 1 flat ran once and never changed anything" in done.err
    assert "note: pass 'idle-graph' in phase 0 graph never ran" in done.err
    assert "takes a GraphFunc" in done.err
    # A pass that worked, and those of the toolkit, are not mentioned.
    assert done.err.count("note:") == 2
    assert shell("opt", kernel, "--pass", "1:mine:tag").err == ""


def test_a_textual_pipeline_replaces_all_others(shell: Shell, kernel: str) -> None:
    text = "0:mine:tag{word=x};2:unroll-loops"
    done = shell("opt", kernel, "--pipeline", text, "--opt-bisect-limit=-1")
    assert [line.split(" ")[4] for line in done.err.splitlines()] == [
        'tag{word="x"}',
        "unroll-loops",
    ]
    bad = shell("opt", kernel, "--pipeline", "0:;2:unrol-loops")
    assert bad.code == 2
    assert "<pipeline>:1:6: there is no pass 'unrol-loops'" in bad.err
    assert bad.err.endswith("  0:;2:unrol-loops\n       ^\n")
    assert "phase 5" in shell("opt", kernel, "--pipeline", "5:simplify").err
    legal = shell("opt", kernel, "--pipeline", "1:simplify;4:simplify", "--opt-bisect-limit=-1")
    assert legal.err.count("BISECT") == 2


def test_facts_of_the_input_are_in_force(shell: Shell, kernel: str) -> None:
    assert shell("opt", kernel, "--pipeline", "2:vectorize-loops").code == 0
    shell.write("deep.irs", "def f(A: f32[2, 2]):\n    A[0, 0] = f32(1.0)\n")
    done = shell("opt", "deep.irs", "--pipeline", "2:vectorize-loops")
    assert done.code == 2
    assert "'vectorize-loops' needs flat_access" in done.err
    assert "It is given by 'flatten-buffers'" in done.err


def test_an_order_that_cannot_hold_is_refused_before_anything_runs(
    shell: Shell, kernel: str
) -> None:
    done = shell("opt", kernel, "--pipeline", "1:unroll-loops,vectorize-loops")
    assert "a body is vectorized once, and its vectors are copied" in done.err
    done = shell("opt", kernel, "--disable-pass", "flatten-buffers", "--print-ir-after")
    assert done.code == 2
    assert "needs flat_access, which nothing before it gives" in done.err
    assert "It is given by 'flatten-buffers', which this leaves out" in done.err
    assert "# IR" not in done.err


def test_passes_can_be_disabled(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--disable-pass", "unroll-loops", "--stop-after", "2")
    assert "unrolled" in done.out
    assert "has a pass 'unrol'" in shell("opt", kernel, "--disable-pass", "unrol").err


def test_ir_is_printed_before_and_after_passes(shell: Shell, kernel: str) -> None:
    everything = shell("opt", kernel, "--print-ir-after", "--print-ir-before")
    names = ["simplify", "unroll-loops", "lower-blocks"]
    for name in names:
        assert everything.err.count(f"# IR before {name} ") >= 1
        assert everything.err.count(f"# IR after {name} ") >= 1
    changed = shell("opt", kernel, "--print-ir-after-change").err
    assert "# IR after unroll-loops" in changed
    assert "lower-blocks" not in changed
    one = shell("opt", kernel, "--print-ir-before=unroll-loops").err
    assert one.count("# IR ") == 1
    assert "for i in unrolled" in one
    # What is printed is IR that reads back.
    text = one.partition("\n")[2]
    assert script(parse_loops(text)) == text
    wrong = shell("opt", kernel, "--print-ir-after=unrol")
    assert wrong.code == 2
    assert "cannot print the IR at pass 'unrol': it does not run" in wrong.err


def test_the_ir_that_a_pass_failed_on_is_printed(shell: Shell, kernel: str) -> None:
    args = ("opt", kernel, "--pass", "2:mine:breaking")
    done = shell(*args, "--print-ir-before=breaking")
    assert done.code == 2
    assert "# IR before breaking on function 'f' (phase 2), which failed\ndef f(" in done.err
    assert "pass 'breaking' on function 'f'" in done.err
    assert shell(*args, "--no-verify-each", "--stop-after", "2").code == 0


def test_a_tree_of_files_holds_the_ir_after_each_step(shell: Shell, kernel: str) -> None:
    shell("opt", kernel, "--print-ir-tree-dir", "tree")
    made = sorted(path.name for path in (shell.folder / "tree" / "f").iterdir())
    assert made[0] == "000_loop1_canonicalize-loops.irs"
    assert made[-1].endswith("_loop3_eliminate-common-subexpressions.irs")
    last = (shell.folder / "tree" / "f" / made[-1]).read_text()
    assert last == shell("opt", kernel).out
    shell("opt", kernel, "--print-ir-tree-dir", "less", "--print-ir-after-change")
    assert 0 < len(list((shell.folder / "less" / "f").iterdir())) < len(made)


def test_a_name_that_is_a_path_stays_inside_the_folder(shell: Shell) -> None:
    shell.write("x.irs", '@name("../../etc/passwd")\n' + KERNEL.replace("def f(", "def f_0("))
    assert shell("opt", "x.irs", "--print-ir-tree-dir", "a/b/tree").code == 0
    (made,) = (shell.folder / "a" / "b" / "tree").iterdir()
    assert made.name.startswith("______etc_passwd.")


def test_times_are_a_table_and_a_timeline(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--time-passes", "--time-passes-json", "t.json")
    assert "unroll-loops" in done.err
    assert "all passes" in done.err
    events = json.loads((shell.folder / "t.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [event["name"] for event in spans][-1] == "eliminate-common-subexpressions"
    ends = [event["ts"] + event["dur"] for event in spans]
    for end, following in zip(ends, spans[1:], strict=False):
        assert following["ts"] == pytest.approx(end, abs=0.01)


def test_remarks_name_the_line_of_the_printed_ir(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--remarks", "--print-ir-before=unroll-loops")
    before = [line for line in done.err.splitlines() if not line.startswith("# IR")]
    said = next(line for line in before if "unroll-loops: extent is not" in line)
    at = int(said.split(":")[1])
    assert before[at - 1].strip() == "for j in unrolled(0, n):"
    assert before[before.index(said) + 1] == "    for j in unrolled(0, n):"
    tagged = shell("opt", kernel, "--pass", "0:mine:tag", "--remarks", "--stop-after", "0").err
    assert [line for line in tagged.splitlines() if not line.startswith(" ")] == [
        "f:2: tag: tagged tag",
        "f:4: tag: tagged tag",
        "f:6: tag: tagged tag",
    ]
    assert shell("opt", kernel, "--remarks", "--stop-after", "0").err == "no pass made a remark\n"


def test_a_limit_runs_the_first_passes_only(shell: Shell, kernel: str) -> None:
    two = shell.write("two.irs", TWO)
    everything = shell("opt", two, "--opt-bisect-limit=-1")
    count = everything.err.count("BISECT: ran pass")
    assert everything.out == shell("opt", two).out
    half = shell("opt", two, "--opt-bisect-limit", str(count // 2))
    assert half.err.count("BISECT") == count // 2
    # All of f, nothing of g.
    assert half.out.endswith(KERNEL.replace("def f(", "def g("))
    assert half.out.startswith(shell("opt", kernel).out)
    none = shell("opt", two, "--opt-bisect-limit", "0")
    assert none.out == TWO


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*/*.irs"))


def test_golden_files_hold_each_phase(shell: Shell, kernel: str) -> None:
    two = shell.write("two.irs", TWO)
    missing = shell("opt", two, "--golden", "gold")
    assert missing.code == 1
    assert "gold/f/loop0_raw.irs is missing" in missing.out
    made = shell("opt", two, "--golden", "gold", "--update-golden", "--function", "f")
    assert made.code == 0
    assert files(shell.folder) == [
        "gold/f/loop0_raw.irs",
        "gold/f/loop1_flat.irs",
        "gold/f/loop2_loops.irs",
        "gold/f/loop3_cleanup.irs",
    ]
    assert (shell.folder / "gold/f/loop0_raw.irs").read_text() == KERNEL
    same = shell("opt", two, "--golden", "gold", "--function", "f")
    assert (same.code, same.out) == (0, "")
    other = shell("opt", two, "--golden", "gold", "--function", "f", "--pass", "2:mine:tag")
    assert other.code == 1
    assert "--- gold/f/loop2_loops.irs" in other.out
    assert "+    for j in serial(0, n, tag=1):" in other.out
    assert "loop1_flat" not in other.out
    assert "--update-golden" in other.err
    (shell.folder / "gold/f/loop9_old.irs").write_text("")
    stale = shell("opt", two, "--golden", "gold", "--function", "f")
    assert (stale.code, "loop9_old.irs is left over" in stale.out) == (1, True)
    shell("opt", two, "--golden", "gold", "--update-golden", "--function", "f")
    assert not (shell.folder / "gold/f/loop9_old.irs").exists()
    assert "has no function 'h'" in shell("opt", two, "--golden", "gold", "--function", "h").err
    assert "need --golden" in shell("opt", two, "--update-golden").err


def test_golden_files_hold_graphs_and_the_kernels_made_of_them(shell: Shell) -> None:
    shell.write("g.irs", GRAPH)
    assert shell("opt", "g.irs", "--golden", "gold", "--update-golden").code == 0
    names = files(shell.folder / "gold")
    assert "main/graph0_graph.irs" in names
    assert "main/graph1_kernels.irs" in names
    for last in ("loop0_raw.irs", "loop3_cleanup.irs"):
        assert sum(name.endswith(last) for name in names) == 1
    assert shell("opt", "g.irs", "--golden", "gold").code == 0


def test_a_pass_on_modules_is_placed_like_any_other(shell: Shell, kernel: str) -> None:
    done = shell("opt", kernel, "--pass", "2:mine:whole", "--golden", "gold", "--update-golden")
    assert done.code == 0
    assert "note: pass 'whole' in phase 2 loops ran once" in done.err


def test_help_teaches(shell: Shell) -> None:
    text = shell("opt", "--help").out
    for word in (
        "--pipeline",
        "before=",
        "--print-ir-after",
        "--golden",
        "irkit passes",
        "--remarks",
    ):
        assert word in text
