from __future__ import annotations

import subprocess
import sys

import pytest

from pslab.errors import NotFoundError
from pslab.graph.registry import op_def, register


@pytest.mark.parametrize(
    "module", ["pslab.graph.plan", "pslab.graph.node", "pslab.graph.variables", "pslab.graph.gradients", "pslab.execution.compiler"]
)
def test_is_filled_in_a_fresh_process(module):
    program = f"import {module}; from pslab.graph.registry import op_def; print(op_def('MatMul').type, op_def('Assign').type)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("MatMul Assign\n", "")


def test_an_unknown_type():
    with pytest.raises(NotFoundError, match="there is no op type 'Warp'"):
        op_def("Warp")


def test_a_type_is_registered_once():
    with pytest.raises(ValueError, match="'MatMul' is registered twice"):
        register("MatMul", infer=op_def("MatMul").infer, kernel=op_def("MatMul").kernel)
