"""What NumPy computes in f64, with a bound on the error of each element.

Reading order: bounded_array, bounded."""
