"""Calls a Memoranda server over HTTP: the API's operations as typed verbs, without the library behind them."""

from memoranda.client.awaited.client import AsyncClient
from memoranda.client.blocking.client import Client
from memoranda.client.call import OMITTED
from memoranda.client.errors import UnexpectedAnswer, Unreachable
from memoranda.client.retrying import Retries

__all__ = ["OMITTED", "AsyncClient", "Client", "Retries", "UnexpectedAnswer", "Unreachable"]
