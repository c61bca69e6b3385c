"""Records of training steps: their fields, the ring that keeps them, and the figures that sum them up."""
