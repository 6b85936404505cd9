"""What can be known of a printed function besides its text; nothing here runs it.

blame (which pass last changed a line), search with search_child (where a text stands, who
introduced it), origin (back to the ONNX node or the tensor expression), nest (the loop nest with
its numbers), graph_view (a graph as boxes), native (LLVM IR and assembly, mapped to lines).
"""
