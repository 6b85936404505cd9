"""If, Loop and Scan: loop_body (of a loop that stays one), operators (their converters)."""
