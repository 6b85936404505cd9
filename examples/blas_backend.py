"""A backend of one's own: f32 products and convolutions by the BLAS of this machine.

`irkit compile model.onnx -o model.irkit --backend blas_backend:blas` takes it too, in this folder.
"""

import ctypes.util
from pathlib import Path

import numpy as np

import irkit
from irkit.graph import Match, attributes, extents_of, hole, op, parse_module
from irkit.ir import F32
from irkit.phases import BackendClaim, ForeignCode, check_backend, claim_rule, define_backend

MATMUL = op("matmul", hole("x"), hole("w"), name="product", dtype=F32)
BIASED = op("add", MATMUL, hole("b"), commutative=True)
CONV = op("conv", hole("x"), hole("w"), name="product", dtype=F32)
BIASED_CONV = op("conv", hole("x"), hole("w"), hole("b"), name="product", dtype=F32)


def refuses(found: Match) -> str:
    """Return why a match is not for BLAS, or an empty text."""
    x, w = extents_of(found["x"]), extents_of(found["w"])
    if None in x or None in w:
        return "a shape is only known at the call"
    if found.op("product").name == "conv":
        if len(x) != 4 or attributes(found.op("product")).int("groups") != 1:
            return "it has groups, or not two spatial axes"
        return "" if w[0] != 1 else "one filter is no product"
    if len(x) != 2 or len(w) != 2:
        return "it is a batch of products"
    if "b" in found and (w[1] == 1 or extents_of(found["b"]) not in ((w[1],), (1, w[1]))):
        return "what is added is not one number a column"
    return ""


RULES = tuple(
    claim_rule(name, pattern, refuses=refuses)
    for name, pattern in (
        ("matmul_bias_relu", op("relu", BIASED)),
        ("matmul_bias", BIASED),
        ("matmul", MATMUL),
        ("conv_bias_relu", op("relu", BIASED_CONV)),
        ("conv_bias", BIASED_CONV),
        ("conv_relu", op("relu", CONV)),
        ("conv", CONV),
    )
)


@define_backend(rules=RULES)
def blas(claim: BackendClaim) -> ForeignCode:
    """Compute products by cblas_sgemm, convolutions as products of filters and unfolded windows."""
    library, gemm, size = find_blas()
    product, params = claim.operators[0], claim.function.params
    # In C, a kernel takes its inputs in this order, and its result last.
    *inputs, y = claim.names
    named = dict(zip(params, inputs, strict=True))
    x, w = product.args[:2]
    bias = "".join(named[param] for param in params if param not in (x, w))
    if product.name == "matmul":
        (rows, inner), (_, columns) = extents_of(x), extents_of(w)
        numbers = {"ROWS": rows, "INNER": inner, "COLUMNS": columns}
        index, body = "j", MATMUL_BODY
    else:
        numbers = conv_numbers(claim)
        index, body = "i", CONV_BODY
    added = f" + {bias}[{index}]" if bias else ""
    least = "0.0f" if claim.operators[-1].name == "relu" else "-INFINITY"
    listed = ", ".join(f"{name} = {value}" for name, value in numbers.items())
    code = f"""{HEAD}
enum {{ {listed} }};
#define GEMM {gemm}
typedef {size} n_t;
void GEMM(int, int, int, n_t, n_t, n_t, float, const float *, n_t, const float *, n_t, float,
    float *, n_t);

{claim.declaration} {{
    const float *x = {named[x]}, *w = {named[w]};
    float *y = {y};
{body}
    for (int64_t n = 0; n < ROWS * (int64_t)COLUMNS * BATCH; n++) {{
        const int64_t i = n / COLUMNS % ROWS, j = n % COLUMNS;
        const float v = y[n]{added};
        (void)i, (void)j;
        y[n] = v < {least} ? {least} : v;
    }}
    return 0;
}}
"""
    return ForeignCode(c=code, imports={gemm: library})


def conv_numbers(claim: BackendClaim) -> dict[str, object]:
    """Return the sizes of a convolution, under the names that CONV_BODY uses."""
    conv = claim.operators[0]
    options, result = attributes(conv), extents_of(claim.function.body.result)
    x, w = (extents_of(arg) for arg in conv.args[:2])
    pairs = {
        "H, W": x[2:], "KH, KW": w[2:], "OH, OW": result[2:], "SH, SW": options.ints("strides"),
        "PH, PW": options.ints("pads")[:2], "DH, DW": options.ints("dilations"),
    }  # fmt: skip
    numbers: dict[str, object] = {"BATCH": x[0], "CHANNELS": x[1], "ROWS": w[0]}
    for names, values in pairs.items():
        numbers |= zip(names.split(", "), values, strict=True)
    return {**numbers, "INNER": "CHANNELS * KH * KW", "COLUMNS": "OH * OW"}


HEAD = """\
#include <math.h>
#include <stdlib.h>"""
# 101 is row by row, 111 not transposed.
MATMUL_BODY = """\
    enum { BATCH = 1 };
    GEMM(101, 111, 111, ROWS, COLUMNS, INNER, 1, x, INNER, w, COLUMNS, 0, y, COLUMNS);"""
CONV_BODY = """\
    float *rows = malloc(sizeof(float) * INNER * COLUMNS);
    if (!rows) return -1;
    for (int64_t image = 0; image < BATCH; image++) {
        float *to = rows;
        for (int64_t c = 0; c < CHANNELS; c++)
            for (int64_t kh = 0; kh < KH; kh++)
                for (int64_t kw = 0; kw < KW; kw++)
                    for (int64_t oh = 0; oh < OH; oh++)
                        for (int64_t ow = 0; ow < OW; ow++) {
                            const int64_t h = oh * SH + kh * DH - PH, v = ow * SW + kw * DW - PW;
                            const int inside = h >= 0 && h < H && v >= 0 && v < W;
                            *to++ = inside ? x[((image * CHANNELS + c) * H + h) * W + v] : 0.0f;
                        }
        GEMM(101, 111, 111, ROWS, COLUMNS, INNER, 1, w, INNER, rows, COLUMNS, 0,
            y + image * ROWS * COLUMNS, COLUMNS);
    }
    free(rows);"""


def find_blas() -> tuple[str, str, str]:
    """Return a library, its function for f32 products, and the type of sizes in C: of the system,
    or what NumPy brings along."""
    found = ctypes.util.find_library("openblas") or ctypes.util.find_library("cblas")
    if found:
        return found, "cblas_sgemm", "int"
    wheels = Path(np.__file__).parent.parent / "numpy.libs"
    for path in wheels.glob("libscipy_openblas64_*"):
        return str(path), "scipy_cblas_sgemm64_", "int64_t"
    raise irkit.IRKitError("there is no BLAS with a C interface here", hint="Install OpenBLAS.")


NETWORK = """
def main(x: f32[1, 3, 16, 16], w: f32[8, 3, 3, 3], b: f32[8], v: f32[392, 10], c: f32[10]):
    a: f32[1, 8, 7, 7] = conv(x, w, b, strides=(2, 2))
    r: f32[1, 8, 7, 7] = relu(a)
    f: f32[1, 392] = reshape(r, shape=(1, 392))
    p: f32[1, 10] = matmul(f, v)
    s: f32[1, 10] = add(p, c)
    y: f32[1, 10] = softmax(s)
    return y
"""


def main() -> None:
    module = parse_module(NETWORK)
    print("checked:", {name: why or "right" for name, why in check_backend(module, blas).items()})
    model = irkit.compile(module, backends=(blas,))
    plain = irkit.compile(module)
    random = np.random.default_rng(0)
    inputs = {
        spec.name: random.standard_normal(spec.extents).astype(np.float32)
        for spec in model.plan.inputs
    }
    found, expected = model.run(inputs)["y"], plain.run(inputs)["y"]
    print("kernels:", ", ".join(call.kernel for call in model.plan.calls))
    print("largest difference from irkit's own code:", np.abs(found - expected).max())


if __name__ == "__main__":
    main()
