"""Graphs: how they are built, placed and cut."""
