"""Parts of the live view, each drawing one part of a snapshot."""
