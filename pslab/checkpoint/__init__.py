"""Checkpoints: their files, the state file that lists them, and the `Saver` between them and a session."""
