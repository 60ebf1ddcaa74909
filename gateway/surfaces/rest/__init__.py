"""REST: plugins' routes, streams and OpenAPI documents."""
