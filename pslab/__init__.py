"""pslab: learn how distributed training works, by doing it.

``import pslab as tf`` speaks TensorFlow 1's vocabulary; ``pslab.Lab()`` and ``%load_ext pslab`` are the way in from a notebook. Names are
imported when they are first used.
"""

from pslab.lazy import facade

__version__ = "0.1.0"

_MODULES = {
    "pslab.compat.app": ".",
    "pslab.compat.call_forms": "concat histogram_summary image_summary scalar_summary split",
    "pslab.compat.flags": ".",
    "pslab.compat.gfile": ".",
    "pslab.compat.logging": ".",
    "pslab.data": ".",
    "pslab.data.decode_csv": "decode_csv",
    "pslab.data.file_ops": "matching_files read_file write_file",
    "pslab.data.parse_example": "FixedLenFeature parse_example parse_single_example",
    "pslab.data.readers": (
        "FixedLengthRecordReader IdentityReader NumpyReader ParquetReader ReaderBase TFRecordReader TextLineReader WholeFileReader"
    ),
    "pslab.data.string_ops": "as_string decode_raw string_join string_to_number",
    "pslab.errors": ". OpError",
    "pslab.image": ".",
    "pslab.layers": ".",
    "pslab.losses": ".",
    "pslab.nn": ".",
    "pslab.python_io": ".",
    "pslab.summary": ".",
    "pslab.train": ".",
    "pslab.graph.collections": "GraphKeys",
    "pslab.graph.default_names": "add_to_collection colocate_with control_dependencies device get_collection name_scope",
    "pslab.graph.defaults": "get_default_graph get_default_session reset_default_graph",
    "pslab.graph.device": "DeviceSpec",
    "pslab.graph.dtypes": (
        "DType as_dtype bool=bool_ float16 float32 float64 half=float16 double=float64 int16 int32 int64 int8 string uint16 uint32 uint64 uint8"
    ),
    "pslab.graph.gradients": "gradients",
    "pslab.graph.graph": "Graph",
    "pslab.graph.graph_def": "GraphDef",
    "pslab.graph.importing": "import_graph_def",
    "pslab.graph.build": "convert_to_tensor",
    "pslab.graph.initializers": (
        "constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer random_normal_initializer"
        " random_uniform_initializer truncated_normal_initializer variance_scaling_initializer zeros_initializer"
    ),
    "pslab.graph.operation": "Operation",
    "pslab.graph.ops.aggregates": "count_nonzero norm reduce_logsumexp",
    "pslab.graph.ops.arrays": "cast fill one_hot ones ones_like range=range_ tile to_double to_float to_int32 to_int64 zeros zeros_like",
    "pslab.graph.ops.assertions": (
        "Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_non_negative assert_positive assert_rank"
    ),
    "pslab.graph.ops.clip": "clip_by_global_norm clip_by_norm clip_by_value global_norm",
    "pslab.graph.ops.compare": ("equal greater greater_equal less less_equal logical_and logical_not logical_or logical_xor not_equal where"),
    "pslab.graph.ops.contraction": "diag diag_part einsum eye matrix_diag_part=diag_part matrix_transpose tensordot trace",
    "pslab.graph.ops.grids": "lin_space linspace meshgrid",
    "pslab.graph.ops.joining": "stack unstack",
    "pslab.graph.ops.math": (
        "abs add add_n ceil cos div divide exp expm1 floor floordiv log log1p maximum minimum mod multiply negative pow reciprocal round rsqrt"
        " sign sin sqrt square squared_difference subtract truediv"
    ),
    "pslab.graph.ops.matmul": "matmul",
    "pslab.graph.ops.activations": "log_sigmoid sigmoid tanh",
    "pslab.graph.ops.numerics": "check_numerics is_finite is_inf is_nan",
    "pslab.graph.ops.random": "multinomial random_crop random_normal random_shuffle random_uniform set_random_seed truncated_normal",
    "pslab.graph.ops.ordering": "cumsum reverse reverse_v2=reverse",
    "pslab.graph.ops.python": "Print py_func",
    "pslab.graph.ops.reduce": ("argmax argmin reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum"),
    "pslab.graph.ops.shapes": "expand_dims rank reshape shape size squeeze transpose",
    "pslab.graph.ops.slicing": "newaxis pad slice=slice_ strided_slice",
    "pslab.graph.ops.gathering": "boolean_mask gather gather_nd",
    "pslab.graph.ops.scattering": "dynamic_partition dynamic_stitch unsorted_segment_sum",
    "pslab.graph.ops.uninitialized": "report_uninitialized_variables",
    "pslab.graph.ops.sources": "constant group identity no_op placeholder placeholder_with_default stop_gradient tuple=tuple_",
    "pslab.graph.ops.trigonometry": "acos acosh asin asinh atan atanh cosh erf sinh tan",
    "pslab.graph.shape": "Dimension TensorShape",
    "pslab.graph.tensor": "Tensor",
    "pslab.graph.variables": (
        "Variable assign assign_add assign_sub count_up_to global_variables global_variables_initializer is_variable_initialized"
        " local_variables local_variables_initializer model_variables moving_average_variables trainable_variables"
        " variables_initializer"
    ),
    "pslab.layers.getting": "get_local_variable get_variable local_variable no_regularizer",
    "pslab.layers.partitioned_variable": ("PartitionedVariable fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner"),
    "pslab.layers.variable_scope": "VariableScope get_variable_scope variable_scope",
    "pslab.layers.variable_store": "AUTO_REUSE",
    "pslab.queues.queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "pslab.runtime.config": "ConfigProto GPUOptions",
    "pslab.runtime.run_options": "RunMetadata RunOptions",
    "pslab.runtime.session": "InteractiveSession Session",
    "pslab.cluster": "Cluster",
    "pslab.lab.lab": "Lab",
    "pslab.lab.language": "set_language",
    "pslab.lab.overlay": "overlay",
    "pslab.lab.sweep": "Sweep",
    "pslab.lab.until": "Until",
    "pslab.lab.magics": "load_ipython_extension unload_ipython_extension",
    "pslab.sync.conditional_accumulator": "ConditionalAccumulator",
    "tensorboardX.proto.summary_pb2": "Summary",
    "pslab.train.collective": "Pipeline RingAllReduce",
    "pslab.train.commits": "Differences Elastic Gradients",
    "pslab.train.compression": "Float16 Int8 OneBit RandomK TopK",
    "pslab.train.delays": "Constant Exponential Pareto",
    "pslab.train.strategy": "Replication Strategy",
    "pslab.train.updates": "SSP Async KAsync Sync",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
