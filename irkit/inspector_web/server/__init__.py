"""The web server: app (routes that answer with JSON), job_routes, security (which requests are
allowed), http_server."""

from irkit.inspector_web.server.app import create_app as create_app
from irkit.inspector_web.server.http_server import (
    LOOPBACK as LOOPBACK,
    Server as Server,
    is_loopback as is_loopback,
)
from irkit.inspector_web.server.security import (
    AccessRules as AccessRules,
    new_access_rules as new_access_rules,
)
