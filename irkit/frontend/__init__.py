"""Models from other tools (onnx, torch), and models as trees of modules (nn)."""
