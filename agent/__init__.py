"""The agent: learning algorithm, environments and goals."""
