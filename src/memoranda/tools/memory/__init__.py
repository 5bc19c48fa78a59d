"""The memory tool: remember, recall, list, get, update and forget, within what the caller is bound to."""
