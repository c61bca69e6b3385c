"""What a step would cost: plans run on simulated links, cores and clocks, without computing anything."""
