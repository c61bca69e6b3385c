"""Rules of consistency: pure state machines without I/O, threads or clocks, and the stateful ops that run them on the parameter servers."""
