"""Whole screens: the live view, and what opens above it."""
