"""Does an environment keep what it promises? Plays it at random and says what is wrong, one line per check."""
