"""The credentials that are known by how they begin: what each kind looks like, and what its texts have in them. Pure."""

import re
from typing import Final, NamedTuple

# What may stand before a credential: nothing that a longer word could go on from, but the escapes
# of JSON and of addresses, whose last character is a letter or a digit.
_BEFORE: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_AFTER: Final = r"(?![A-Za-z0-9])"
FEWEST_CHARACTERS: Final = 8
"""Different characters that a credential has at the least, unless its kind says otherwise; a row of x has fewer."""


class Format(NamedTuple):
    """One kind of credential. `hints` are texts of which one is in every credential of the kind.

    The group `secret` of `pattern` is what nobody could guess, of at least `fewest` different characters.
    """

    kind: str
    called: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    fewest: int = FEWEST_CHARACTERS


def _format(
    kind: str, called: str, hints: str, pattern: str, fewest: int = FEWEST_CHARACTERS
) -> Format:
    """`hints` are parted by spaces; in `pattern`, `<…>` is the part that nobody could guess."""
    spelled = pattern.replace(">", ")").replace("<", "(?P<secret>")
    compiled = re.compile(f"{_BEFORE}(?:{spelled}){_AFTER}", re.ASCII)
    return Format(kind, called, tuple(hints.split()), compiled, fewest)


FORMATS: Final = (
    _format("aws_access_key", "an AWS access key", "AKIA ASIA", r"A[KS]IA<[A-Z2-7]{16}>"),
    _format(
        "github_token",
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_<[A-Za-z0-9]{36,255}>",
    ),
    _format(
        "github_fine_grained_token",
        "a GitHub token",
        "github_pat_",
        r"github_pat_<[A-Za-z0-9]{22}_[A-Za-z0-9]{40,80}>",
    ),
    _format(
        "gitlab_token",
        "a GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glagent- gloas-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas)-<[A-Za-z0-9_-]{20,}>",
    ),
    _format(
        "openai_key",
        "an OpenAI key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-)<[A-Za-z0-9_-]{20,}>",
    ),
    _format("openai_legacy_key", "an OpenAI key", "sk-", r"sk-<[A-Za-z0-9]{40,}>"),
    _format(
        "anthropic_key",
        "an Anthropic key",
        "sk-ant-",
        r"sk-ant-[a-z0-9]{2,12}-<[A-Za-z0-9_-]{20,}>",
    ),
    _format("openrouter_key", "an OpenRouter key", "sk-or-", r"sk-or-v1-<[0-9a-f]{64}>"),
    _format("groq_key", "a Groq key", "gsk_", r"gsk_<[A-Za-z0-9]{40,}>"),
    _format("replicate_token", "a Replicate token", "r8_", r"r8_<[A-Za-z0-9]{37,}>"),
    _format("huggingface_token", "a Hugging Face token", "hf_", r"hf_<[A-Za-z0-9]{30,}>"),
    _format("google_api_key", "a Google API key", "AIza", r"AIza<[A-Za-z0-9_-]{35}>"),
    _format("google_oauth_secret", "a Google client secret", "GOCSPX-", r"GOCSPX-<[\w-]{24,}>"),
    _format("google_access_token", "a Google access token", "ya29.", r"ya29\.<[\w-]{30,}>"),
    _format(
        "slack_token",
        "a Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        r"(?:xox[abeoprs]|xapp)-<(?:[0-9A-Za-z]{1,20}-){0,4}[0-9A-Za-z]{16,}>",
    ),
    _format(
        "slack_webhook",
        "a Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,}/[AB][A-Z0-9]{6,}/<[A-Za-z0-9]{16,}>",
    ),
    _format(
        "discord_webhook",
        "a Discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{15,21}/<[\w-]{50,}>",
    ),
    _format(
        "stripe_key",
        "a Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        r"[sr]k_(?:live|test)_<[A-Za-z0-9]{20,}>",
    ),
    _format(
        "webhook_secret", "a webhook's signing secret", "whsec_", r"whsec_<[A-Za-z0-9+/]{24,}>"
    ),
    _format("sendgrid_key", "a SendGrid key", "SG.", r"SG\.<[\w-]{20,24}\.[\w-]{39,50}>"),
    _format("twilio_key", "a Twilio key", "SK", r"SK<[0-9a-f]{32}>"),
    _format("npm_token", "an npm token", "npm_", r"npm_<[A-Za-z0-9]{36}>"),
    _format("pypi_token", "a PyPI token", "pypi-AgE", r"pypi-AgE<[\w-]{50,}>"),
    _format("docker_token", "a Docker token", "dckr_", r"dckr_(?:pat|oat)_<[\w-]{24,}>"),
    _format(
        "digitalocean_token",
        "a DigitalOcean token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"do[opr]_v1_<[0-9a-f]{64}>",
    ),
    _format("databricks_token", "a Databricks token", "dapi", r"dapi<[0-9a-f]{32}>"),
    _format(
        "shopify_token",
        "a Shopify token",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_<[0-9a-fA-F]{32}>",
    ),
    _format("vault_token", "a Vault token", "hvs. hvb.", r"hv[sb]\.<[\w-]{24,}>"),
    _format("telegram_bot_token", "a Telegram bot's token", ":AA", r"[0-9]{8,10}:<AA[\w-]{33}>"),
    _format("linear_key", "a Linear key", "lin_api_", r"lin_api_<[A-Za-z0-9]{32,}>"),
    _format("notion_token", "a Notion token", "ntn_ secret_", r"(?:ntn|secret)_<[A-Za-z0-9]{43,}>"),
    _format("airtable_token", "an Airtable token", "pat", r"pat<[A-Za-z0-9]{14}\.[0-9a-f]{64}>"),
    _format("grafana_token", "a Grafana token", "glsa_", r"glsa_<[A-Za-z0-9]{32}_[0-9a-f]{8}>"),
    _format(
        "memoranda_key", "a key of Memoranda", "mk_", r"mk_(?:platform|[0-9a-f]{32})_<[\w-]{32,}>"
    ),
    _format(
        "private_key",
        "a private key",
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\\[nr]|\s|[A-Za-z-]{1,20}: [^\r\n\\]{0,80}(?:[\r\n]|\\[nr]))*<[A-Za-z0-9+/]{40,}>",
    ),
    _format(
        "password_in_address",
        "a password in an address",
        "://",
        # Last, so that a token in its place is called by its own name. What stands for a password begins with
        # a sign of templates or with a word for one; it holds no bracket.
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@?#]{0,100}:"
        r"(?![$*(\[]|%[^0-9A-Fa-f]|(?i:pass|pwd|admin|test|demo|user|root|guest|postgres|my))"
        r"<[^\s/@?#{}\x3c\x3e\"'`\\]{6,200}>@[A-Za-z0-9._\[-][A-Za-z0-9._:\[\]-]{0,253}",
        fewest=6,
    ),
)
"""Every kind. To add one, give it a row here and made-up credentials in the tests."""
