"""Made-up credentials of every kind, put together here so that no scanner of repositories takes them for real ones."""

import random
import string
from collections.abc import Iterator
from typing import Final, NamedTuple

BASE62: Final = string.ascii_letters + string.digits
BASE64URL: Final = BASE62 + "-_"
BASE64: Final = BASE62 + "+/"
BASE32: Final = string.ascii_uppercase + "234567"
CAPITALS: Final = string.ascii_uppercase + string.digits
HEX: Final = "0123456789abcdef"
EACH: Final = 3
"""How many of each shape are made."""


class Made(NamedTuple):
    """A credential that was made up, and the kind that it is to be taken for."""

    kind: str
    value: str


# The parts of each: texts as they are, and (alphabet, length) for what is dealt out.
SHAPES: Final[list[tuple[str, list[object]]]] = [
    ("aws_access_key", ["AK", "IA", (BASE32, 16)]),
    ("aws_access_key", ["AS", "IA", (BASE32, 16)]),
    ("github_token", ["gh", "p_", (BASE62, 36)]),
    ("github_token", ["gh", "s_", (BASE62, 36)]),
    ("github_fine_grained_token", ["github", "_pat_", (BASE62, 22), "_", (BASE62, 59)]),
    ("gitlab_token", ["gl", "pat-", (BASE64URL, 20)]),
    ("gitlab_token", ["gl", "rt-", (BASE64URL, 20)]),
    ("openai_key", ["sk", "-proj-", (BASE64URL, 74), "T3BlbkFJ", (BASE64URL, 74)]),
    ("openai_key", ["sk", "-svcacct-", (BASE64URL, 58)]),
    ("openai_legacy_key", ["sk", "-", (BASE62, 48)]),
    ("anthropic_key", ["sk", "-ant-", "api03-", (BASE64URL, 93), "AA"]),
    ("openrouter_key", ["sk", "-or-v1-", (HEX, 64)]),
    ("groq_key", ["gs", "k_", (BASE62, 52)]),
    ("replicate_token", ["r8", "_", (BASE62, 37)]),
    ("huggingface_token", ["h", "f_", (BASE62, 34)]),
    ("google_api_key", ["AI", "za", (BASE64URL, 35)]),
    ("google_oauth_secret", ["GOC", "SPX-", (BASE64URL, 28)]),
    ("google_access_token", ["ya", "29.", (BASE64URL, 120)]),
    (
        "slack_token",
        ["xox", "b-", (string.digits, 12), "-", (string.digits, 12), "-", (BASE62, 24)],
    ),
    ("slack_token", ["xap", "p-1-", (CAPITALS, 11), "-", (string.digits, 13), "-", (HEX, 64)]),
    (
        "slack_webhook",
        ["hooks.slack", ".com/services/T", (CAPITALS, 8), "/B", (CAPITALS, 8), "/", (BASE62, 24)],
    ),
    (
        "discord_webhook",
        ["discord", ".com/api/webhooks/", (string.digits, 18), "/", (BASE64URL, 68)],
    ),
    ("stripe_key", ["sk", "_live_", (BASE62, 24)]),
    ("stripe_key", ["rk", "_test_", (BASE62, 98)]),
    ("webhook_secret", ["wh", "sec_", (BASE64, 32)]),
    ("sendgrid_key", ["S", "G.", (BASE64URL, 22), ".", (BASE64URL, 43)]),
    ("twilio_key", ["S", "K", (HEX, 32)]),
    ("npm_token", ["np", "m_", (BASE62, 36)]),
    ("pypi_token", ["py", "pi-AgE", "IcHlwaS5vcmc", (BASE64URL, 150)]),
    ("docker_token", ["dc", "kr_pat_", (BASE64URL, 27)]),
    ("digitalocean_token", ["do", "p_v1_", (HEX, 64)]),
    ("databricks_token", ["da", "pi", (HEX, 32)]),
    ("shopify_token", ["sh", "pat_", (HEX, 32)]),
    ("vault_token", ["hv", "s.", (BASE64URL, 95)]),
    ("telegram_bot_token", [(string.digits, 10), ":A", "A", (BASE64URL, 33)]),
    ("linear_key", ["lin", "_api_", (BASE62, 40)]),
    ("notion_token", ["nt", "n_", (BASE62, 46)]),
    ("airtable_token", ["p", "at", (BASE62, 14), ".", (HEX, 64)]),
    ("grafana_token", ["gl", "sa_", (BASE62, 32), "_", (HEX, 8)]),
    ("memoranda_key", ["m", "k_", (HEX, 32), "_", (BASE64URL, 43)]),
    ("memoranda_key", ["m", "k_platform_", (BASE64URL, 43)]),
    ("private_key", ["-----BEGIN ", "PRIVATE KEY", "-----\n", (BASE64, 64), "\n", (BASE64, 40)]),
    ("password_in_address", ["postgresql:", "//bob:", (BASE62, 14), "@db.int"]),
    ("password_in_address", ["amqps:", "//:", (BASE64URL, 24), "@mq_1:5671"]),
    (
        "private_key",
        ["-----BEGIN RSA ", "PRIVATE KEY", "-----\nProc-Type: 4,ENCRYPTED\n\n", (BASE64, 64)],
    ),
]


def made_secrets() -> Iterator[Made]:
    """Some of each shape: always the same ones."""
    dice = random.Random(20261)
    for kind, parts in SHAPES:
        for _ in range(EACH):
            yield Made(kind, "".join(_dealt(part, dice) for part in parts))


def _dealt(part: object, dice: random.Random) -> str:
    if isinstance(part, str):
        return part
    alphabet, length = part
    # A dash at an end would be the sentence's and not the key's.
    ends = alphabet.replace("-", "").replace("_", "")
    middle = "".join(dice.choices(alphabet, k=length - 2))
    return f"{dice.choice(ends)}{middle}{dice.choice(ends)}"
