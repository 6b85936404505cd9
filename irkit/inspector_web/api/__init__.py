"""What the page asks for, as plain structs: the server sends them as JSON, a report embeds them.

overview (runs, functions, steps), diff_page, blame_page, step_detail (one step, one line),
view_pages (loop nest, graph), native_views (LLVM IR and assembly, from a child); every_view makes
all of them for a trace, to test the inspector on malformed files.
"""
