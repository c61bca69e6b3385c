"""``import tensorflow as tf`` that finds pslab.

After `install`, the name ``tensorflow`` and the modules below it that TensorFlow 1 programs import from are pslab's. A real TensorFlow, if there is one, is hidden.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from pslab.compat.historical import NOT_THERE

VERSION = "1.15.5"
"""The version of TensorFlow whose names these are."""

MODULES = {
    "tensorflow": "pslab",
    "tensorflow.compat": "",
    "tensorflow.compat.v1": "pslab",
    "tensorflow.app": "pslab.compat.app",
    "tensorflow.contrib": "pslab:contrib",
    "tensorflow.contrib.framework": "pslab:contrib.framework",
    "tensorflow.contrib.layers": "pslab:contrib.layers",
    "tensorflow.contrib.rnn": "pslab:contrib.rnn",
    "tensorflow.contrib.training": "pslab:contrib.training",
    "tensorflow.errors": "pslab.errors",
    "tensorflow.examples": "",
    "tensorflow.examples.tutorials": "",
    "tensorflow.examples.tutorials.mnist": "",
    "tensorflow.examples.tutorials.mnist.input_data": "pslab.compat.mnist",
    "tensorflow.flags": "pslab.compat.flags",
    "tensorflow.gfile": "pslab.compat.gfile",
    "tensorflow.layers": "pslab.layers",
    "tensorflow.logging": "pslab.compat.logging",
    "tensorflow.nn": "pslab.nn",
    "tensorflow.python": "pslab",
    "tensorflow.python.client": "",
    "tensorflow.python.client.timeline": "pslab.summary.timeline",
    "tensorflow.python.framework": "",
    "tensorflow.python.framework.dtypes": "pslab",
    "tensorflow.python.framework.errors": "pslab.errors",
    "tensorflow.python.framework.ops": "pslab",
    "tensorflow.python.ops": "",
    "tensorflow.python.ops.array_ops": "pslab",
    "tensorflow.python.ops.math_ops": "pslab",
    "tensorflow.python.ops.nn_ops": "pslab.nn",
    "tensorflow.python.ops.rnn": "pslab.nn",
    "tensorflow.python.ops.rnn_cell": "pslab:nn.rnn_cell",
    "tensorflow.python.ops.variable_scope": "pslab",
    "tensorflow.python.platform": "",
    "tensorflow.python.platform.app": "pslab.compat.app",
    "tensorflow.python.platform.flags": "pslab.compat.flags",
    "tensorflow.python.platform.gfile": "pslab.compat.gfile",
    "tensorflow.python.platform.tf_logging": "pslab.compat.logging",
    "tensorflow.python.training": "",
    "tensorflow.python.training.summary_io": "pslab.summary",
    "tensorflow.python.training.training": "pslab.train",
    "tensorflow.python_io": "pslab.python_io",
    "tensorflow.summary": "pslab.summary",
    "tensorflow.train": "pslab.train",
}
"""From a module's name to what gives its names: a module, an attribute of one after a colon, or nothing but its submodules."""


class AliasModule(ModuleType):
    """A module whose names are another's."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__version__ = VERSION

    def __getattr__(self, name: str) -> object:
        child = f"{self.__name__}.{name}"
        if child in MODULES and not MODULES[self.__name__]:
            return importlib.import_module(child)
        if name.startswith("__") or not MODULES[self.__name__]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "compat":
            return importlib.import_module("tensorflow.compat")
        return getattr(_find(MODULES[self.__name__]), name)

    def __dir__(self) -> list[str]:
        return dir(_find(MODULES[self.__name__])) if MODULES[self.__name__] else []

    @staticmethod
    def disable_v2_behavior() -> None:
        """Nothing: graphs and sessions are all there is."""

    disable_eager_execution = disable_resource_variables = disable_v2_tensorshape = disable_v2_behavior


class _Finder(MetaPathFinder, Loader):
    """Finds ``tensorflow`` and what is below it."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "tensorflow":
            return None
        why = NOT_THERE.get(fullname.partition(".")[2])
        if why is not None:  # a ModuleNotFoundError would be lost in `from tensorflow import keras`
            raise ImportError(f"pslab, which stands in for TensorFlow here, has no {fullname!r}: {why}", name=fullname)
        if fullname not in MODULES:
            raise ModuleNotFoundError(f"pslab, which stands in for TensorFlow here, has no module {fullname!r}", name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def install() -> None:
    """Make ``tensorflow`` in this process stand for pslab. To do it twice does no more.

    Raises:
        RuntimeError: another ``tensorflow`` was imported already.
    """
    other = sys.modules.get("tensorflow")
    if other is not None and not isinstance(other, AliasModule):
        raise RuntimeError(f"tensorflow was imported already, from {getattr(other, '__file__', 'somewhere')}: pslab cannot stand in for it now")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _find(where: str) -> object:
    module, _, attributes = where.partition(":")
    found: object = importlib.import_module(module)
    for name in filter(None, attributes.split(".")):
        found = getattr(found, name)
    return found
