"""Events: what listeners are told after a change, in the order of the commits."""
