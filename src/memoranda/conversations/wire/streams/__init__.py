"""Answers as they came in, piece by piece: whole ones, and those that broke off, as far as they went."""

from memoranda.conversations.wire.streams import anthropic, gemini, openai_chat, openai_responses

__all__ = ["anthropic", "gemini", "openai_chat", "openai_responses"]
