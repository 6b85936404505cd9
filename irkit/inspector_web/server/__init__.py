"""The web server: app (routes that answer with JSON), job_routes, security (who may ask for what),
http_server.  From here: create_app, Server, LOOPBACK, is_loopback, AccessRules,
new_access_rules."""
