"""Functions of f64, where those of f32 are computed in f64 or by one expansion for both.

Reading order: arcs, sums_of_two (sums of two floats, exact or nearly so), powers, quarter_turns (an
angle's remainder), waves.
"""
