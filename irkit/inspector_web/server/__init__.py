"""The web server: app (routes that answer with JSON), job_routes, security (which requests are
allowed), token_file, http_server.

The cookie carries the port in its name, because browsers share cookies between ports. The token
leaves the address by a page that goes on to ``/``: a redirect would lose the cookie where the link
was followed from another site. Markup is made by ``highlight`` only, which escapes.
"""

from irkit.inspector_web.server.app import create_app as create_app
from irkit.inspector_web.server.http_server import (
    LOOPBACK as LOOPBACK,
    Server as Server,
    is_loopback as is_loopback,
)
from irkit.inspector_web.server.security import (
    new_access_rules as new_access_rules,
)
from irkit.inspector_web.server.token_file import (
    read_token as read_token,
)
