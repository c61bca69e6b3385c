"""Runs TF1-style programs of separate processes, one per task: ``pslab run``."""
