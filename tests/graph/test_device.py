"""Device names, by TensorFlow 1's DeviceSpec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import DeviceError
from pslab.graph.device import DeviceSpec

SPECS = st.builds(
    DeviceSpec,
    job=st.none() | st.sampled_from(["ps", "worker", "local_host"]),
    replica=st.none() | st.integers(0, 3),
    task=st.none() | st.integers(0, 99),
    device_type=st.none() | st.sampled_from(["CPU", "GPU"]),
    device_index=st.none() | st.integers(0, 7),
).map(lambda s: s if s.device_type else s.replace(device_index=None))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("/job:worker/task:1/gpu:0", DeviceSpec("worker", None, 1, "GPU", 0)),
        ("/job:ps/replica:0/task:2/device:CPU:*", DeviceSpec("ps", 0, 2, "CPU", None)),
        ("/cpu:0", DeviceSpec(device_type="CPU", device_index=0)),
        ("", DeviceSpec()),
        (None, DeviceSpec()),
    ],
)
def test_names_are_read(text, spec) -> None:
    assert DeviceSpec.from_string(text) == spec


@given(SPECS)
def test_what_is_written_is_read_back(spec: DeviceSpec) -> None:
    assert DeviceSpec.from_string(spec.to_string()) == spec


@given(SPECS, SPECS)
def test_the_inner_name_wins_field_by_field(outer: DeviceSpec, inner: DeviceSpec) -> None:
    merged = outer.merge_under(inner)
    assert merged.job == (inner.job or outer.job)
    assert merged.task == (outer.task if inner.task is None else inner.task)
    assert (merged.device_type, merged.device_index) == (
        (inner.device_type, inner.device_index) if inner.device_type else (outer.device_type, outer.device_index)
    )


@pytest.mark.parametrize("text", ["worker:0", "/job:", "/job:worker/task:x", "/job:1", "/task:-1"])
def test_what_is_no_name_is_refused(text) -> None:
    with pytest.raises(DeviceError, match="is not a device name"):
        DeviceSpec.from_string(text)
