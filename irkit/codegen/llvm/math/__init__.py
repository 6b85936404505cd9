"""Intrinsic functions, one family of transcendental functions a file: exponentials, logarithms,
trigonometry, inverse_trigonometry; polynomials (their table, with error bounds); intrinsics (which
function becomes an instruction, a polynomial or a call)."""
