"""What the launcher says to a task's process, on its standard input."""

END = "end\n"
"""The workers are done."""
