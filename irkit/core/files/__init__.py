"""Files of irkit: atomic_write (whole or not at all; the folder of caches), signed_files (what only
this user's irkit wrote), source_state (which sources of irkit run)."""
