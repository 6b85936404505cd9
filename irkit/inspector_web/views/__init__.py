"""What can be known about a printed function besides its text, without running it.

blame (which pass last changed a line), search with search_child (where a text occurs, and which
pass introduced it), origin (back to the ONNX node or the tensor expression), nest (the loop nest
with sizes), memory (strides and cache lines of accesses), graph_view (a graph as boxes), native
(LLVM IR and assembly, mapped to lines).
"""
