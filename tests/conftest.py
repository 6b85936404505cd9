"""Nothing that a test compiles comes from, or stays in, the user's cache."""

import os

os.environ["IRKIT_CACHE"] = "0"
