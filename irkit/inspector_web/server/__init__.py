"""The web server: app (routes that answer with JSON), job_routes, security (who may ask for what),
http_server.  From here: create_app, Server, LOOPBACK, is_loopback, AccessRules,
new_access_rules.

The cookie carries the port in its name, because browsers share cookies between ports. The token
leaves the address by a page that goes on to ``/``: a redirect would lose the cookie where the link
was followed from another site. Markup is made by ``highlight`` only, which escapes.
"""
