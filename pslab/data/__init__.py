"""Data sets, and the batches that workers take from them."""
