"""Networks: from observations to action distributions and values. They know nothing of losses."""
