"""Goals: their vocabulary, how people write them, how they are drawn, detected and grouped into suites."""
