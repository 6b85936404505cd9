""""""

from irkit.ir import I64, Const

ONE = Const(1, I64)
