"""A lab's model outlives the lab: another process uses it, without the code that made it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.datasets import load_digits

from pslab.lab.lab import Lab

USE = """\
import json, sys
import pslab as tf
from sklearn.datasets import load_digits

prefix = sys.argv[1]
saver = tf.train.import_meta_graph(prefix + ".meta")
data = load_digits()
with tf.Session() as sess:
    saver.restore(sess, prefix)
    predicted, accuracy, step = sess.run(
        ["model/prediction:0", "model/accuracy:0", "global_step:0"], {"x:0": data.data / 16, "y:0": data.target}
    )
    print(json.dumps({"predicted": predicted.tolist(), "accuracy": float(accuracy), "step": int(step)}))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, np.ndarray]:
    """A prefix, and what the model that was saved there says of all digits."""
    prefix = str(tmp_path_factory.mktemp("saved") / "first")
    lab = Lab()
    lab.cluster.start(ps=2, workers=2, processes=False)
    try:
        lab.data("digits")
        lab.model("mlp", hidden=[32], learning_rate=0.2)
        lab.train(800)
        lab.wait()
        assert lab.save(prefix) == prefix
        return prefix, lab.predict((load_digits().data / 16).astype(np.float32))["prediction"]
    finally:
        lab.cluster.stop()


def test_another_process_uses_it_by_name(saved: tuple[str, np.ndarray]) -> None:
    prefix, predicted = saved
    done = subprocess.run([sys.executable, "-c", USE, prefix], capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert found["step"] == 800
    assert found["accuracy"] > 0.9
    np.testing.assert_array_equal(found["predicted"], predicted)


def test_its_weights_open_in_numpy_alone(saved: tuple[str, np.ndarray]) -> None:
    arrays = load_file(f"{saved[0]}.safetensors")
    assert arrays["hidden_0/weights"].shape == (64, 32)
    assert arrays["logits/biases"].dtype == np.float32
