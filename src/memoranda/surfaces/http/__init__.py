"""The HTTP surface: routes under /v1 that translate, and decide nothing."""
