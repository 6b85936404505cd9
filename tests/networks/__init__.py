"""Networks as PyTorch's exporters write them, compiled and compared with ONNX Runtime.

Reading order: network (what a network is), vision, detection, transformers, sequence and quantized
(definitions, which need torch), export (writes models, inputs and ONNX Runtime's outputs), compare
(compiles what was written). Only export imports the definitions, so all else works without torch.
"""
