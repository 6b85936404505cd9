"""Devices with threads: kernels next to what PyTorch runs there."""
