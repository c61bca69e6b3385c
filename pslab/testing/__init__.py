"""For tests: conformance suites, gradient checks, a task on its own."""
