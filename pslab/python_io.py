"""TFRecord files in Python: TensorFlow 1's ``tf.python_io``."""

from pslab.lazy import facade

_MODULES = {"pslab.data.tfrecord": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
