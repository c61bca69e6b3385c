"""Reading data: readers and decoders, input pipelines, data sets, and the batches and parts that workers take from them."""

from pslab.lazy import facade

_MODULES = {
    "pslab.data.partitions": "Partitions",
    "pslab.data.shards": "shard",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
