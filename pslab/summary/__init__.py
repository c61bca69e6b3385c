"""Summaries of a graph, written as event files that TensorBoard opens: TensorFlow 1's ``tf.summary``."""

from pslab.lazy import facade

_MODULES = {
    "pslab.summary.ops": "histogram image merge merge_all scalar",
    "pslab.summary.writer": "FileWriter FileWriterCache SummaryWriterCache=FileWriterCache",
    "pslab.summary.reader": "summary_iterator",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
