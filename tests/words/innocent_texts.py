"""Texts as people and programs write them, in which there is no credential however much looks like one."""

import hashlib
import uuid
from collections.abc import Iterator
from typing import Final

ROOMS: Final = (
    *("kitchen", "workshop", "library", "harbor", "orchard", "studio", "archive", "bakery"),
    *("glasshouse", "foundry"),
)
VERBS: Final = ("opens", "closes", "ships", "answers", "bakes", "repairs", "measures", "paints")

CODE: Final = (
    "apiKey: import.meta.env.X",
    "apiKey: import.meta.env.VITE_OPENAI_API_KEY,",
    'const key = process.env.STRIPE_SECRET_KEY ?? "";',
    "token = os.environ['GITHUB_TOKEN']",
    'api_key=os.getenv("ANTHROPIC_API_KEY")',
    "export AWS_SECRET_ACCESS_KEY=$(pass show aws/secret)",
    "export SK_LIVE=$STRIPE_KEY",
    "password: ${{ secrets.DATABASE_PASSWORD }}",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer $KEY",
    'headers = {"x-api-key": settings.api_key}',
    "if secret.startswith('sk-'): raise ValueError",
    "if (key.startsWith('sk_live_')) throw new Error('live key')",
    "const SLACK = /xox[bp]-[0-9A-Za-z-]+/;",
    'PATTERN = re.compile(r"AKIA[0-9A-Z]{16}")',
    're.compile("ghp_[A-Za-z0-9]{36}")',
    r"^sk-[A-Za-z0-9]{48}$",
    "hf_hub_download(repo_id=repo, filename=name)",
    "hf_model = AutoModel.from_pretrained(name)",
    "npm_config_registry=http://localhost:4873",
    "npm_package_version and npm_lifecycle_event are set by npm",
    "pypi-publish: needs: [build, test]",
    "SG.Platform.Services.Accounts.Reader.FetchAll(page)",
    "SK_CLASSIFIER = sklearn.ensemble.RandomForestClassifier(n_estimators=100)",
    "task-management-system-v2-final-draft-of-the-plan",
    "risk-assessment-matrix-2026-quarterly-review-notes",
    "disk-usage-analyzer-for-large-file-systems-2025-11",
    "desk-reservation-service-front-end-build-20260101-1",
    "ask-me-anything-session-with-the-platform-team-2026",
    "mk_dir_if_missing(path, mode=0o755)",
    "pattern.compile_to_native_regular_expression_string()",
    "path.join(root, 'node_modules', '.bin', 'eslint')",
    "dapiVersion: v1 # a slip for apiVersion",
    "secret_santa_list = ['Ada', 'Ben', 'Carla', 'Dan', 'Eve', 'Finn', 'Gus']",
    "lin_api_client = LinearClient(api_key=key)",
    "glsa_token_name = 'read only'",
    "shpat_prefix_check(token)",
    "dop_v1_prefix = 'dop_v1_'",
    "AIza is how Google's keys begin.",
    "ya29. is how an access token of Google begins.",
    "xoxb- is a bot's token, xoxp- a user's.",
    "SELECT id, secret_hash FROM api_keys WHERE revoked_at IS NULL",
    "CREATE TABLE api_keys (id uuid PRIMARY KEY, secret_hash text NOT NULL)",
    "def test_a_key_that_begins_with_sk_is_refused() -> None: ...",
    "x = [ghp for ghp in graph_host_pointers if ghp_is_valid(ghp)]",
    "docker run -e POSTGRES_PASSWORD=postgres -p 5432:5432 postgres:18",
    "curl -H 'Authorization: Bearer YOUR_TOKEN_HERE' https://api.example.com/v1/me",
    "git clone https://github.com/acme/site.git && cd site && npm install",
    "integrity sha512-2Q9b1Yc0o6Hj3l9JmZ2X0v5v8mE5X7C1n2m3b4v5c6x7z8l9k0j1h2g3f4d5s6a7p8o9i0u==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)
NO_PASSWORDS: Final = (
    *("user", "user:", "user:password", "USER:PASSWORD", "user:pass1234", "postgres:postgres1"),
    *("user:<password>", "user:<db-pass-1>", "user:$PASS_1234", "user:${DB_PASS_1}", "bob:***"),
    *(
        "user:{password1}",
        "bob:%s",
        "bob:%(pw1)sabc",
        "bob:[pw-1234]",
        "bob:••••••••",
        "me:xxxxxxxx1",
    ),
    *("admin:admin123", "user:changeme1", "bob:your-password-1", "bob:REDACTED1", "bob:12345678"),
    *(
        "bob:example-pw-1",
        "root:rootroot1",
        "bob:{{ db.password1 }}",
        "ada:mypassword1",
        "ada:...1...",
    ),
)
"""What stands before the host where no password does, but a word or a sign for one."""
PLACEHOLDERS: Final = (
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_access_key_id = AKIA" + "XXXXXXXXXXXXXXXX",
    "sk-" + "your-api-key-goes-here-please-and-thanks",
    "sk-proj-" + "your_project_key_goes_here_1234",
    "sk-ant-api03-" + "x" * 40,
    "sk-ant-api03-" + "your-key-here-0000000000000000",
    "sk-" + "x" * 48,
    "sk-" + "1234567890abcdef" * 3,
    "sk-" + "0" * 48,
    "sk-...",
    "sk-proj-********************",
    "ghp_" + "x" * 36,
    "ghp_" + "X" * 36,
    "ghp_" + "1234567890abcdefghijklmnopqrstuvwxyz",
    "ghp_" + "YOUR_TOKEN",
    "github_pat_" + "EXAMPLE" * 3 + "A_" + "EXAMPLE" * 8 + "ABC",
    "glpat-" + "xxxxxxxxxxxxxxxxxxxx",
    "glpat-" + "your-token-goes-here-99",
    "xoxb-" + "your-bot-token",
    "xoxb-" + "000000000000-000000000000-xxxxxxxxxxxxxxxxxxxxxxxx",
    "https://hooks.slack.com/services/" + "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "https://discord.com/api/webhooks/" + "123456789012345678/" + "x" * 60,
    "sk_test_" + "your_key_goes_here_please",
    "sk_live_" + "x" * 24,
    "sk_live_" + "••••••••••••••••••••••••",
    "whsec_" + "your_webhook_secret_goes_here",
    "AIza" + "SyEXAMPLE-EXAMPLE-EXAMPLE-EXAMPLE-00",
    "AIza" + "x" * 35,
    "npm_" + "x" * 36,
    "npm_" + "0123456789abcdefghijklmnopqrstuvwxyz",
    "pypi-AgE" + "x" * 60,
    "hf_" + "x" * 34,
    "hf_" + "YOUR_HUGGING_FACE_TOKEN_GOES_HERE",
    "SG." + "x" * 22 + "." + "x" * 43,
    "SK" + "0" * 32,
    "dapi" + "0123456789abcdef" * 2,
    "dop_v1_" + "0123456789abcdef" * 4,
    "123456789:AA" + "x" * 33,
    "-----BEGIN PRIVATE " + "KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE " + "KEY-----\n<your key>\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Q\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQm9vdHN0cmFwIENlcnRpZmljYXRl0\n-----END CERTIFICATE-----",
    "mk_platform_" + "x" * 43,
    "Bearer mk_" + "…",
    "password=hunter2",
    "postgres://memoranda:…@localhost/memoranda",
    *(f"postgresql://{each}@db.example.com:5432/x" for each in NO_PASSWORDS),
    "https://example.com:8080?email=a1b2c3d4@example.com",
    "ssh://git@example.com:22/acme/site1.git and then mail a1b2c3@example.com",
    "https://example.com:443/@ada_lovelace_1815",
    "redis://:@localhost:6379 and a://b:c@d",
    "Write `scheme://user:password@host`, never the password itself.",
)
PROSE: Final = (
    "Answer in whole sentences, and never promise a date that nobody has confirmed.",
    "We say “client”, never “customer”; a project is an *engagement*.",
    "Ada leads the studio. Ben keeps the books. Carla answers on weekends.",
    "Die Bestellungen gehen dienstags aus Leipzig raus — spätestens um 16 Uhr.",
    "Наша команда отвечает на письма в течение одного рабочего дня.",
    "私たちの工房は火曜日から土曜日まで開いています。",
    "المكتب مفتوح من الأحد إلى الخميس.",
    "👩‍👩‍👧‍👦 A family of four, 🏳️‍🌈 and a flag: emoji are joined by what nobody sees.",
    "Ｆｕｌｌ－ｗｉｄｔｈ　ｌｅｔｔｅｒｓ　ａｒｅ　ｎｏ　ｓｅｃｒｅｔ．",
    "Call +49 341 1234567 or +1 (555) 010-9999 between nine and five.",
    "Room 3.14, floor 2, desk 27: the key is under the third stone on the left.",
    "IBAN DE89 3704 0044 0532 0130 00 is the one on the invoices.",
    "ISBN 978-3-16-148410-0, DOI 10.1000/182, ORCID 0000-0002-1825-0097.",
    "Version 2.14.0-rc.3+build.20261130 went out at 2026-11-30T09:00:00Z.",
    "https://example.com/articles/2026/11/how-to-choose-a-notebook?utm_source=newsletter&utm_campaign=autumn",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
    "arn:aws:iam::123456789012:role/service-role/deploy",
    "gid://shopify/Product/7982905098262",
    "[x] Ask for the budget\n[ ] Book the room\n[ ] Write to the printer",
    "---\ntitle: Voice\nupdated: 2026-11-30\n---\n\n# How we sound\n\nShort. Warm. Exact.\n",
    "| name | role |\n| --- | --- |\n| Ada | lead |\n| Ben | books |",
)


def innocent_texts() -> Iterator[str]:
    """All of them, and as many more that are made: ids, hashes and sentences."""
    yield from (*CODE, *PLACEHOLDERS, *PROSE)
    for number in range(30):
        yield f"Ticket {uuid.UUID(int=number * 7_919 << 64 | number * 104_729)} is done."
        yield f"id: {uuid.uuid5(uuid.NAMESPACE_URL, str(number))}"
        digest = hashlib.sha256(str(number).encode())
        yield f"commit {digest.hexdigest()[:40]}"
        yield f"sha256:{digest.hexdigest()}"
    for number, room in enumerate(ROOMS):
        for place, verb in enumerate(VERBS):
            yield f"The {room} {verb} at {7 + place}:{number:02d} on day {number + 1}."
