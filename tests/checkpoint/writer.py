"""A process that writes checkpoints until it is killed.

``writer.py PREFIX`` writes numbers 1, 2, 3, … one after the other, and prints each when it is written.
``writer.py PREFIX N`` writes number 1, and kills itself at the N-th step of writing that reaches the disk.
``writer.py PREFIX N sharded`` does so with a checkpoint in two files.
"""

from __future__ import annotations

import os
import signal
import sys

import numpy as np

from pslab.checkpoint import data_file
from pslab.checkpoint.files import write_checkpoint


def tensors(number: int) -> dict[str, np.ndarray]:
    return {f"v{i}": np.full(200_000, number, np.float32) for i in range(10)}


def shards() -> dict[str, str]:
    return {f"v{i}": f"ps:{i % 2}" for i in range(10)}


def main(prefix: str, fatal: int | None, sharded: bool) -> None:
    if fatal is None:
        number = 0
        while True:
            number += 1
            write_checkpoint(prefix, tensors(number), global_step=number)
            print(number, flush=True)
    steps = 0

    def deadly(function):
        def wrapper(*args, **kwargs):
            nonlocal steps
            steps += 1
            if steps == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return wrapper

    os.fsync, os.replace, data_file.save_file = deadly(os.fsync), deadly(os.replace), deadly(data_file.save_file)
    write_checkpoint(prefix, tensors(1), global_step=1, shards=shards() if sharded else None)
    print("survived", steps, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None, "sharded" in sys.argv)
