"""Queues as stateful ops, and the threads that fill them."""
