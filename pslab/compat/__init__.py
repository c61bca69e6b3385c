"""TensorFlow 1's names that are not pslab's own business."""
