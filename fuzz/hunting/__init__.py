"""Find planted bugs by drawing samples, as a campaign does: how soon, and how small what is found
becomes. Reading order: quarry, hunt, hunter."""
