"""Importers of models from other tools: onnx."""
