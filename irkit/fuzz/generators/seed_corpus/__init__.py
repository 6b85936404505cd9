"""Programs written by hand: generators start from them, malformed input damages them, and mutation
testing lowers them.

Reading order: the files of IR text, texts (which reads them), schedules.
"""
