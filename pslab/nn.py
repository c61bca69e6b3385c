"""Neural network ops: TensorFlow 1's ``tf.nn``."""

from pslab.lazy import facade

_MODULES = {
    "pslab.graph.ops.activations": "elu leaky_relu log_sigmoid relu relu6 selu sigmoid softplus softsign tanh",
    "pslab.graph.ops.convolution": "conv2d max_pool",
    "pslab.graph.ops.pooling": "avg_pool",
    "pslab.graph.ops.normalization": "batch_normalization fused_batch_norm local_response_normalization lrn",
    "pslab.graph.ops.embedding": "embedding_lookup",
    "pslab.graph.ops.losses": (
        "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2"
        " sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits"
    ),
    "pslab.graph.ops.nn": "bias_add dropout in_top_k l2_loss l2_normalize log_softmax moments softmax xw_plus_b zero_fraction",
    "pslab.graph.ops.ordering": "top_k",
    "pslab.layers.rnn": "dynamic_rnn static_rnn",
    "pslab.layers.rnn_cell": ".",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)
