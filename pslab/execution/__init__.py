"""Execution: from a partition of a plan to a program over arrays."""
