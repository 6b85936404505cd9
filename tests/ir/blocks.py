"""A block that tests of the verifier and of facts share."""

BLOCK = """\
def f(A: f32[8]):
    for i in serial(0, 8):
        with block("A"):
            v = axis.spatial({extent}, {binding})
            where({where})
            reads({reads})
            with init():
                A[v] = f32(0.0)
            A[v] = f32(1.0)
"""
VALID = {"extent": "8", "binding": "i", "where": "i < 8", "reads": "A[0:8]"}
