"""The `amago` command: reads what a person typed, calls `agent` and `store`, prints what they answer."""
