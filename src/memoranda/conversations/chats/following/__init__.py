"""Runs that go on: who follows them, what their hosts tell, and how they are stopped or ended by a worker."""
