"""Crafter: engines, the instruction-following environment around them, and the drawing of its frames."""
