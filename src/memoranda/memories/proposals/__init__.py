"""Proposals: what agents and tidy-up would have remembered, apart from the chains until a person decides."""
