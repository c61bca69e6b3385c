"""What a traced run measured, as TensorFlow's ``RunMetadata`` protocol buffer.

The messages are those of TensorFlow's ``step_stats.proto`` and ``config.proto``, as far as they are needed here.
"""

from __future__ import annotations

import functools
from typing import Any

from pslab.runtime.run_options import RunMetadata

_MESSAGES = {
    "NodeExecStats": {
        "node_name": (1, "string"),
        "all_start_micros": (2, "int64"),
        "op_start_rel_micros": (3, "int64"),
        "op_end_rel_micros": (4, "int64"),
        "all_end_rel_micros": (5, "int64"),
        "timeline_label": (8, "string"),
    },
    "DeviceStepStats": {"device": (1, "string"), "node_stats": (2, "NodeExecStats")},
    "StepStats": {"dev_stats": (1, "DeviceStepStats")},
    "RunMetadata": {"step_stats": (1, "StepStats")},
}
"""Of each message its fields: number, and type. What is itself a message may come several times, but for the one ``StepStats``."""


def run_metadata_proto(run: RunMetadata) -> Any:
    """The protocol buffer."""
    made = _classes()["RunMetadata"]()
    for device in run.step_stats.dev_stats:
        stats = made.step_stats.dev_stats.add(device=device.device)
        for node in device.node_stats:
            stats.node_stats.add(
                node_name=node.node_name,
                all_start_micros=node.all_start_micros,
                op_end_rel_micros=node.all_end_rel_micros,
                all_end_rel_micros=node.all_end_rel_micros,
                timeline_label=f"{node.node_name} = {node.op}",
            )
    return made


@functools.cache
def _classes() -> dict[str, Any]:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {"string": kinds.TYPE_STRING, "int64": kinds.TYPE_INT64}
    file = descriptor_pb2.FileDescriptorProto(name="pslab/run_metadata.proto", package="pslab", syntax="proto3")
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            repeated = kind in _MESSAGES and kind != "StepStats"
            described.field.add(
                name=field,
                number=number,
                label=kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL,
                type=scalars.get(kind, kinds.TYPE_MESSAGE),
                type_name=f".pslab.{kind}" if kind in _MESSAGES else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {message: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"pslab.{message}")) for message in _MESSAGES}
