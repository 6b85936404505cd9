"""What options print about the passes that ran."""

from tests.cli.shell import Shell

KERNEL = """\
def f(C: f32[8]):
    for i in unrolled(0, 4):
        C[i] = f32(1.0)
"""


def test_rules_are_a_table_with_the_hits_of_each_and_the_time_in_it(shell: Shell) -> None:
    file = shell.write("k.irs", KERNEL)
    plain, done = shell("opt", file), shell("opt", file, "--time-rules")
    assert (done.out, plain.err) == (plain.out, "")
    rows = [line.split("│")[1:-1] for line in done.err.splitlines() if "unroll_loops.<" in line]
    (cells,) = [[cell.strip() for cell in row] for row in rows]
    assert cells[:2] == ["2", "unroll-loops"]
    assert int(cells[3]) == 1
    assert float(cells[4]) >= 0
