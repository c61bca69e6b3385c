"""The messages that TFRecord files usually hold (TensorFlow 1's ``tf.train.Example``): features by name, each a list of bytes, floats or integers.

The classes are protobuf's own, made from the description below, which is that of TensorFlow's ``example.proto`` and ``feature.proto``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "pslab.example"


def _field(name: str, number: int, kind: int, label: int = _Field.LABEL_OPTIONAL, message: str = "", oneof: int | None = None) -> Any:
    field = _Field(name=name, number=number, type=kind, label=label)
    if message:
        field.type_name = f".{_PACKAGE}.{message}"
    if oneof is not None:
        field.oneof_index = oneof
    return field


def _described() -> Any:
    repeated, message = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE
    file = descriptor_pb2.FileDescriptorProto(name="pslab/example.proto", package=_PACKAGE, syntax="proto3")
    for name, kind in (("BytesList", _Field.TYPE_BYTES), ("FloatList", _Field.TYPE_FLOAT), ("Int64List", _Field.TYPE_INT64)):
        file.message_type.add(name=name).field.append(_field("value", 1, kind, repeated))
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (name, of) in enumerate((("bytes_list", "BytesList"), ("float_list", "FloatList"), ("int64_list", "Int64List")), 1):
        feature.field.append(_field(name, number, message, message=of, oneof=0))
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.extend([_field("key", 1, _Field.TYPE_STRING), _field("value", 2, message, message="Feature")])
    features.field.append(_field("feature", 1, message, repeated, "Features.FeatureEntry"))
    file.message_type.add(name="Example").field.append(_field("features", 1, message, message="Features"))
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_described())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


BytesList = _class("BytesList")
FloatList = _class("FloatList")
Int64List = _class("Int64List")
Feature = _class("Feature")
Features = _class("Features")
Example = _class("Example")
