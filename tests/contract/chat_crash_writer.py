"""A process in which somebody talks, moves and is answered without end, and which says what was acknowledged, until it is killed."""

import asyncio
from multiprocessing.connection import Connection

from memoranda.access.models import Principal
from memoranda.conversations.chats.models import Chat
from memoranda.storage import Storage
from tests.contract.chat_desk import Desk


def talk_until_killed(url: str, who: Principal, chat: Chat, report: Connection) -> None:
    """Send None when the database is open, and then the id of each message once it is acknowledged."""
    asyncio.run(_talk(url, who, chat, report))


async def _talk(url: str, who: Principal, chat: Chat, report: Connection) -> None:
    desk = Desk(await Storage.open(url), who, chat)
    report.send(None)
    turn = 0
    while True:
        turn += 1
        thread = await desk.chats.thread(who, chat.id)
        first = next(each for each in thread.messages if each.role == "user")
        if turn % 3 == 0:
            sent = await desk.regenerate()
        elif turn % 4 == 0:
            sent = await desk.edit(first.id, f"{turn} asks otherwise")
        elif turn % 5 == 0:
            await desk.switch(first.versions[0])
            continue
        else:
            sent = await desk.ask(f"{turn} asks")
        report.send(sent.message.id)
        done = await desk.reply(sent.run, f"{turn} hears")
        if done.answer is not None:
            report.send(done.answer.id)
