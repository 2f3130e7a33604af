"""From finished episodes to figures people compare: tables, pages, statistics, comparisons. Knows no torch."""
