"""Kernels of PolyBench and NPBench that nobody scheduled, against NumPy and numba.

Reading order: kernel (one kernel and its peers), products, vectors, stencils, numerics (the
kernels, each as a tensor expression, in NumPy, and in loops for numba), ``__main__`` (timing).
"""
