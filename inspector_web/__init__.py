"""The browser inspector over a Trace. It reads a trace and nothing else; its pages come next."""
