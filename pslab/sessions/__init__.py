"""Sessions that look after themselves: who initialises, who waits, who saves."""
