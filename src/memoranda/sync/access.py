"""Users and agents, for scripts: whom memories, briefs and runs are for."""

from uuid import UUID

from memoranda.access.models import Agent, User
from memoranda.sync.opened import Opened
from memoranda.words.page import Page


class AccessVerbs(Opened):
    """The users and agents of the organization."""

    def create_user(self, name: str, external_id: str | None = None) -> User:
        """Make a user, whose `id` is a `user_id`; see `Access.create_user`."""
        return self._call(lambda at: at.access.create_user(at.owner, name, external_id))

    def user(self, name: UUID | str) -> User:
        """Find a user by id or external id; see `Access.user`."""
        return self._call(lambda at: at.access.user(at.owner, name))

    def users(self, *, limit: int = 100, cursor: str | None = None) -> Page[User]:
        """A page of the users; see `Access.users`."""
        return self._call(lambda at: at.access.users(at.owner, limit=limit, cursor=cursor))

    def create_agent(
        self, slug: str, name: str | None = None, external_id: str | None = None
    ) -> Agent:
        """Make an agent, whose `id` is an `agent_id`; see `Access.create_agent`."""
        return self._call(lambda at: at.access.create_agent(at.owner, slug, name, external_id))

    def agent(self, name: UUID | str) -> Agent:
        """Find an agent by id, slug or external id; see `Access.agent`."""
        return self._call(lambda at: at.access.agent(at.owner, name))

    def agents(self, *, limit: int = 100, cursor: str | None = None) -> Page[Agent]:
        """A page of the agents; see `Access.agents`."""
        return self._call(lambda at: at.access.agents(at.owner, limit=limit, cursor=cursor))
