"""Pages about one subject: what they show is what happens."""
