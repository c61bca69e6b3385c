"""Layers that make their own variables: TensorFlow 1's ``tf.layers``."""

from pslab.lazy import facade

_MODULES = {
    "pslab.layers.contrib": ".",
    "pslab.layers.regularizers": ".",
    "pslab.layers.core": "dense dropout flatten",
    "pslab.layers.images": "average_pooling2d conv2d max_pooling2d",
    "pslab.layers.normalization": "batch_normalization",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
