"""Update rules as pure values, the ops that apply them on the variables' own tasks, and TensorFlow 1's optimizers that build those ops."""
