"""Layers of neural networks.

Reading order: window, conv, pool, norm, resize, grid_sample, optimizers.
"""

from irkit.frontend.onnx.convert.nn.conv import (
    conv,
    conv_transpose,
)
from irkit.frontend.onnx.convert.nn.deform_conv import deform_conv
from irkit.frontend.onnx.convert.nn.grid_sample import (
    grid_sample,
)
from irkit.frontend.onnx.convert.nn.norm import (
    batch_normalization,
    group_normalization,
    instance_normalization,
    layer_normalization,
    lp_normalization,
    lrn,
    mean_variance_normalization,
    rms_normalization,
)
from irkit.frontend.onnx.convert.nn.optimizers import (
    adagrad,
    adam,
    momentum,
)
from irkit.frontend.onnx.convert.nn.pool import (
    average_pool,
    col2im,
    global_average_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool,
    max_pool,
    max_unpool,
)
from irkit.frontend.onnx.convert.nn.resize import (
    resize,
    upsample,
)
from irkit.frontend.onnx.convert.nn.roi_align import roi_align
from irkit.frontend.onnx.convert.nn.window import (
    window_attributes as window_attributes,
)
from irkit.frontend.onnx.onnx_node import Converter

CONVERTERS: dict[str, Converter] = {
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Col2Im": col2im,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "DeformConv": deform_conv,
    "GlobalAveragePool": global_average_pool,
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": global_max_pool,
    "GridSample": grid_sample,
    "GroupNormalization": group_normalization,
    "InstanceNormalization": instance_normalization,
    "LRN": lrn,
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "LpPool": lp_pool,
    "MaxPool": max_pool,
    "MaxUnpool": max_unpool,
    "MeanVarianceNormalization": mean_variance_normalization,
    "RMSNormalization": rms_normalization,
    "Resize": resize,
    "RoiAlign": roi_align,
    "Upsample": upsample,
    "ai.onnx.preview.training.Adagrad": adagrad,
    "ai.onnx.preview.training.Adam": adam,
    "ai.onnx.preview.training.Momentum": momentum,
}

SHAPE_INPUTS: dict[str, tuple[int, ...]] = {
    "Col2Im": (1, 2),
    "MaxUnpool": (2,),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
}
