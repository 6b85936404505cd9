"""Pictures of ten views: the page as it is drawn, compared with pictures that are kept here.

``given`` has the traces that are shown, so that a change of a pass changes no picture, ``font`` the
letters that are drawn, and ``taken`` the pictures, each a quarter of the size of the page. After a
change that is meant, look at what ``python -m tests.inspector_web.static.pictures`` takes anew.
"""
