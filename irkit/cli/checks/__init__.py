"""What the verb check does besides running passes: a program on two targets."""
