"""The live screen of a run, `amago watch`. It reads the run's files and gives orders; it trains nothing."""
