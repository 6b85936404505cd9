"""What the page asks for, as plain structs: the server sends them as JSON, a report embeds them.

overview (runs, functions, steps), diff_page, blame_page, step_detail (one step, one line),
view_pages (loop nest, graph), native_views (LLVM IR and assembly, from a child); every_view asks
for all of them, as a check of hostile files.
"""
