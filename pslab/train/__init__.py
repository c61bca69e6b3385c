"""Training: TensorFlow 1's ``tf.train``, and the strategies, graphs and loops of pslab's own training."""

from pslab.lazy import facade

_MODULES = {
    "pslab.checkpoint.files": "remove_checkpoint",
    "pslab.checkpoint.graph_files": "export_meta_graph import_meta_graph read_graph rename_scope write_graph",
    "pslab.checkpoint.reader": (
        "CheckpointReader NewCheckpointReader=CheckpointReader init_from_checkpoint list_variables load_checkpoint load_variable"
    ),
    "pslab.checkpoint.saver": "Saver",
    "pslab.checkpoint.state": (
        "CheckpointState checkpoint_exists get_checkpoint_mtimes get_checkpoint_state latest_checkpoint update_checkpoint_state"
    ),
    "pslab.data.batching": "batch batch_join shuffle_batch shuffle_batch_join",
    "pslab.data.example_proto": "BytesList Example Feature Features FloatList Int64List",
    "pslab.data.file_ops": "match_filenames_once",
    "pslab.data.input_producers": "input_producer limit_epochs range_input_producer slice_input_producer string_input_producer",
    "pslab.optim.decay": "cosine_decay exponential_decay inverse_time_decay natural_exp_decay piecewise_constant polynomial_decay",
    "pslab.optim.global_step": "create_global_step get_global_step get_or_create_global_step global_step",
    "pslab.optim.moving_average": "ExponentialMovingAverage",
    "pslab.optim.optimizer": (
        "AdadeltaOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer GradientDescentOptimizer MomentumOptimizer Optimizer RMSPropOptimizer"
    ),
    "pslab.queues.coordinator": "Coordinator LooperThread",
    "pslab.queues.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "pslab.runtime.cluster_spec": "ClusterSpec",
    "pslab.runtime.server": "Server",
    "pslab.sessions.creators": "ChiefSessionCreator SessionCreator WorkerSessionCreator",
    "pslab.sessions.hook": "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues",
    "pslab.sessions.hooks": (
        "FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook StopAtStepHook"
    ),
    "pslab.sessions.monitored_session": "MonitoredSession SingularMonitoredSession",
    "pslab.sessions.saving_hooks": "CheckpointSaverHook CheckpointSaverListener StepCounterHook SummarySaverHook",
    "pslab.sessions.scaffold": "Scaffold",
    "pslab.sessions.session_manager": "SessionManager",
    "pslab.sessions.supervisor": "Supervisor",
    "pslab.sessions.sync_replicas": "SyncReplicasOptimizer",
    "pslab.sessions.timer": "SecondOrStepTimer",
    "pslab.sessions.training_session": "MonitoredTrainingSession",
    "pslab.train.device_setter": "GreedyLoadBalancingStrategy byte_size_load_fn replica_device_setter",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
