"""Functions of f32 as arithmetic: one expansion for every kind of code.

Reading order: lane_arithmetic (the operations of a floating-point unit, which LLVM IR and C spell
each in its way), exponentials, logarithms, trigonometry, inverse_trigonometry, polynomials (their
table).
"""
