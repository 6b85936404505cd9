"""Operators of ai.onnx.ml: what scikit-learn, xgboost and lightgbm export.

Reading order: scores; linear; pairwise, svm; forest (trees as arrays), tree_attributes,
forest_kernel, trees; features; categories.
"""

from irkit.frontend.onnx.convert.ml.categories import (
    label_encoder,
    one_hot_encoder,
    zip_map,
)
from irkit.frontend.onnx.convert.ml.features import (
    array_feature_extractor,
    binarizer,
    feature_vectorizer,
    imputer,
    normalizer,
    scaler,
)
from irkit.frontend.onnx.convert.ml.linear import (
    linear_classifier,
    linear_regressor,
)
from irkit.frontend.onnx.convert.ml.svm import (
    svm_classifier,
    svm_regressor,
)
from irkit.frontend.onnx.convert.ml.trees import (
    tree_classifier,
    tree_ensemble,
    tree_regressor,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "ai.onnx.ml.ArrayFeatureExtractor": array_feature_extractor,
    "ai.onnx.ml.Binarizer": binarizer,
    "ai.onnx.ml.FeatureVectorizer": feature_vectorizer,
    "ai.onnx.ml.Imputer": imputer,
    "ai.onnx.ml.LabelEncoder": label_encoder,
    "ai.onnx.ml.LinearClassifier": linear_classifier,
    "ai.onnx.ml.LinearRegressor": linear_regressor,
    "ai.onnx.ml.Normalizer": normalizer,
    "ai.onnx.ml.OneHotEncoder": one_hot_encoder,
    "ai.onnx.ml.SVMClassifier": svm_classifier,
    "ai.onnx.ml.SVMRegressor": svm_regressor,
    "ai.onnx.ml.Scaler": scaler,
    "ai.onnx.ml.TreeEnsemble": tree_ensemble,
    "ai.onnx.ml.TreeEnsembleClassifier": tree_classifier,
    "ai.onnx.ml.TreeEnsembleRegressor": tree_regressor,
    "ai.onnx.ml.ZipMap": zip_map,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {}
