"""The runtime: sessions, masters, tasks, and the servers that let tasks reach each other."""
