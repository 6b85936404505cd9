"""A folder about a failure, enough to see it again. Reading order: folder (what stands in one),
explanation (lines and diff for people), versions, material (what is collected), writer, replay,
isolation_policy (how a command runs passes and reports failures)."""
