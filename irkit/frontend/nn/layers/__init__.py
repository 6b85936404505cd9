"""Layers, one family a file: dense (products and tables), convolution, normalization, pools,
activations, attention, containers."""
