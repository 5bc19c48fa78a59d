"""Chats: a tree of messages in which a person moves, and agents whose memory follows the path that is shown."""
