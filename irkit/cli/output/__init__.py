"""What verbs print: JSON with a schema, and notes on standard error."""
