"""Checkpoints: the values of variables in files that outlive the program."""
