"""One file per verb. Each imports what is heavy inside its function, so that `amago --help` stays instant."""
