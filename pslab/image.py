"""Images: TensorFlow 1's ``tf.image``."""

from pslab.lazy import facade

_MODULES = {
    "pslab.graph.ops.decoding": "decode_image decode_jpeg decode_png",
    "pslab.graph.ops.pictures": (
        "adjust_brightness adjust_contrast central_crop convert_image_dtype crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box"
        " per_image_standardization random_brightness random_contrast random_flip_left_right random_flip_up_down resize_image_with_crop_or_pad"
        " rgb_to_grayscale transpose_image"
    ),
    "pslab.graph.ops.resizing": "ResizeMethod resize_bilinear resize_images resize_nearest_neighbor",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
