"""What Python's operators mean while a function of the user's describes a program.

Reading order: traces (which threads trace a function), refused_operators (what no expression has).
``irkit.ir.traced`` has the expressions that a trace makes.
"""
