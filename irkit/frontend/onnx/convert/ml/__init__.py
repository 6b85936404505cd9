"""Operators of ai.onnx.ml: what scikit-learn, xgboost and lightgbm export.

Reading order: scores; forest (trees as arrays), tree_attributes, forest_kernel, trees.
"""

from irkit.frontend.onnx.convert.ml.trees import (
    tree_classifier,
    tree_ensemble,
    tree_regressor,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "ai.onnx.ml.TreeEnsemble": tree_ensemble,
    "ai.onnx.ml.TreeEnsembleClassifier": tree_classifier,
    "ai.onnx.ml.TreeEnsembleRegressor": tree_regressor,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {}
