"""Pure functions from tensors to losses; each states its equation. They know nothing of networks."""
