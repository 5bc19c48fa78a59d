"""Items under namespaces: put, asked for by key, found by what they hold or mean."""
