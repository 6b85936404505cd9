"""What passes over graphs share or explain; no passes."""
