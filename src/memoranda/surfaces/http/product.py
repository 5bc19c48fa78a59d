"""Gives routes the opened Memoranda that the application was made for."""

from typing import Annotated

from fastapi import Depends, Request

from memoranda.app import Memoranda


def product(request: Request) -> Memoranda:
    """The opened product behind this application."""
    found: Memoranda = request.app.state.memoranda
    return found


Product = Annotated[Memoranda, Depends(product)]
