"""Small loop nests over shared memory, with indices that sometimes coincide."""

from hypothesis import strategies as st

from irkit.ir import PrimFunc, parse

INDICES = (
    "{a}", "{a} + 1", "{a} * 2", "{a} * 2 + 1", "{b}", "{a} + {b}", "{a} * 4 + {b}",
    "{a} * 3 + {b}", "3", "5 - {a}", "({a} * 4 + {b}) // 4", "({a} * 4 + {b}) % 4", "k",
    "{a} // 2", "{b} * 4 + {a} % 3", "{a} - {a} // 2", "{a} - {b} + 8",
)  # fmt: skip
CONDITIONS = ("{a} < 2", "{b} == 0", "A[{a}] < i64(1)", "{a} + {b} > 3")


@st.composite
def nests(draw: st.DrawFn) -> PrimFunc:
    lines = ["def f(A: i64[64], B: i64[8, 8], n: i64):"]
    names = ["0", "0"]
    count = 0

    def index() -> str:
        return draw(st.sampled_from(INDICES)).format(a=names[-1], b=names[-2])

    def place(buffers: str = "ABTUV") -> str:
        buffer = draw(st.sampled_from(buffers))
        return f"{buffer}[{index()}, {index()}]" if buffer == "B" else f"{buffer}[{index()}]"

    def statements(depth: int, pad: str) -> None:
        nonlocal count
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.integers(0, 7)) if depth < 4 else 0
            if kind in (4, 5, 6):
                count += 1
                var, extent = f"i{count}", draw(st.integers(0, 4))
                lines.append(f"{pad}for {var} in serial(0, {extent}):")
                names.append(var)
                statements(depth + 1, pad + "    ")
                names.pop()
            elif kind == 7:
                cond = draw(st.sampled_from(CONDITIONS)).format(a=names[-1], b=names[-2])
                lines.append(f"{pad}if {cond}:")
                statements(depth + 1, pad + "    ")
            else:
                lines.append(f"{pad}{place()} = {place()} + {place()}")

    pad = " " * 4
    lines += [f"{pad}k: i64 = 3", f"{pad}T = alloc(i64[64])", f"{pad}U = alloc(i64[64])"]
    lines += [f"{pad}V = view(T, i64[64], offset=0)", f"{pad}U[0] = A[0]"]
    statements(0, pad)
    return parse("\n".join(lines) + "\n")
