"""The lab: what a notebook holds, its words, its pictures."""
