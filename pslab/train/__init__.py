"""Training: TensorFlow 1's ``tf.train``, and the strategies, graphs and loops of pslab's own training."""

from pslab.lazy import facade

_MODULES = {
    "pslab.checkpoint.saver": "Saver",
    "pslab.checkpoint.state": "CheckpointState checkpoint_exists get_checkpoint_state latest_checkpoint update_checkpoint_state",
    "pslab.data.batching": "batch batch_join shuffle_batch shuffle_batch_join",
    "pslab.data.example_proto": "BytesList Example Feature Features FloatList Int64List",
    "pslab.data.file_ops": "match_filenames_once",
    "pslab.data.input_producers": "input_producer limit_epochs range_input_producer slice_input_producer string_input_producer",
    "pslab.optim.decay": "exponential_decay piecewise_constant polynomial_decay",
    "pslab.optim.global_step": "create_global_step get_global_step get_or_create_global_step global_step",
    "pslab.optim.optimizer": ("AdagradOptimizer AdamOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer RMSPropOptimizer"),
    "pslab.queues.coordinator": "Coordinator LooperThread",
    "pslab.queues.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "pslab.runtime.cluster_spec": "ClusterSpec",
    "pslab.runtime.server": "Server",
    "pslab.train.device_setter": "GreedyLoadBalancingStrategy byte_size_load_fn replica_device_setter",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
