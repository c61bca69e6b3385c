"""Summaries of a graph, written as event files that TensorBoard opens."""
