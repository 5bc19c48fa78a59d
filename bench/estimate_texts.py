"""Texts to fit an estimate on, and others to check it on: no text is in both."""

import hashlib
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]

PROSE: Final = (
    "The delivery was moved from Monday to Thursday because the pier is closed for repairs. Anna "
    "asked us to keep letters short and to the point, and to send invoices separately. She has been "
    "with the company for eleven years, and knows every harbour master between Lisbon and Tallinn "
    "by their first name. When the storm came in last October, it was her idea to let the smaller "
    "boats wait upriver, where the current is slow and the ropes hold. Nobody had thought of it "
    "before, though everybody agreed afterwards that it was obvious."
)
LETTER: Final = (
    "Thank you for your patience while we looked into the missing pallets. The driver confirmed that "
    "he had left them at gate four, as the note on the form said, but the night shift stored them in "
    "the wrong hall. They will reach you tomorrow before noon. We have credited the cost of freight "
    "to your account, and your next order ships free of charge. If anything else is amiss, please "
    "write to me directly; I read every message myself, although an answer may take a day or two."
)
RUSSIAN: Final = (
    "Поставка перенесена с понедельника на четверг, потому что причал закрыт на ремонт. Анна просит "
    "писать ей коротко и только по делу, а счета присылать отдельным письмом. Договор продлён до "
    "конца следующего года, и новая цена начнёт действовать с первого марта. Если возникнут вопросы, "
    "сначала свяжитесь со складом, а потом позвоните в нашу контору."
)
RUSSIAN_LETTER: Final = (
    "Спасибо за терпение, пока мы искали пропавший груз. Водитель подтвердил, что оставил его у "
    "четвёртых ворот, как было указано в накладной, но ночная смена отвезла поддоны в другое "
    "помещение. Завтра до полудня они будут у вас. Стоимость перевозки мы вернули на ваш счёт, а "
    "следующий заказ доставим бесплатно. Я сам читаю каждое письмо, хотя иногда отвечаю не сразу."
)
CHINESE: Final = (
    "由于码头正在维修，送货时间从星期一改到星期四。安娜希望收到简短的邮件，只谈正事，发票请另外发送。"
    "合同已经延长到明年年底，新的价格从三月一日开始生效。如果有问题，请先联系仓库，再打电话给我们的办公室。"
)
CHINESE_LETTER: Final = (
    "感谢您在我们寻找丢失货物期间的耐心等待。司机确认他已按照单据上的说明把货放在四号门，但是夜班工人把它们"
    "搬到了另一个大厅。货物将于明天中午之前送达。运费已经退回您的账户，下一份订单免费配送。"
)
EMOJI: Final = "🎉 🚀 ✅ 👍🏽 👩‍👩‍👧 ❤️ 🏳️‍🌈 😂 🙏 🔥 📦 ☕ 🇫🇷 🧑‍💻 💡 📅"
OTHER_EMOJI: Final = "🌍 🍀 ⭐ 👏🏿 👨‍👩‍👦 ☀️ 🏴‍☠️ 😎 🤝 🎧 🧾 ✈️ 🇯🇵 👩‍🚒 🔒 🎯 ⚙️ 🥐"
SCRIPT: Final = """\
export async function loadReport(agentId, { signal, retries = 3 } = {}) {
  for (let attempt = 0; attempt < retries; attempt += 1) {
    const response = await fetch(`/v1/agents/${agentId}/context-load`, { signal });
    if (response.ok) return response.json();
    if (response.status !== 429 && response.status < 500) {
      throw new Error(`load report: ${response.status} ${response.statusText}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2 ** attempt * 100));
  }
  return null;
}
"""
TABLES: Final = """\
CREATE TABLE IF NOT EXISTS tide_readings (
    id BIGSERIAL PRIMARY KEY, station_id INTEGER NOT NULL REFERENCES stations (id) ON DELETE CASCADE,
    height_mm SMALLINT CHECK (height_mm BETWEEN -9000 AND 9000), taken_at TIMESTAMPTZ DEFAULT NOW()
);
INSERT INTO stations (name, harbour) VALUES ('Lisbon', 'ALCANTARA'), ('Tallinn', NULL);
UPDATE tide_readings SET height_mm = 0 WHERE taken_at IS NULL OR height_mm IS NOT DISTINCT FROM -1;
const MAX_RETRIES = 5, HTTP_TIMEOUT_MS = 2_500; export const API_URL = process.env.API_URL ?? "";
"""
QUERY: Final = """\
SELECT o.id, o.placed_at, c.name AS customer, SUM(l.quantity * l.unit_price) AS total
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id
LEFT JOIN order_lines AS l ON l.order_id = o.id
WHERE o.placed_at >= NOW() - INTERVAL '30 days' AND o.status <> 'cancelled'
GROUP BY o.id, o.placed_at, c.name
HAVING SUM(l.quantity * l.unit_price) > 250.00
ORDER BY total DESC NULLS LAST LIMIT 50;
"""


def fitted() -> Mapping[str, str]:
    """What the rates were fitted on, by kind."""
    rows = [
        {"id": at, "name": f"Customer {at}", "active": at % 3 == 0, "tags": ["eu", "new"]}
        for at in range(60)
    ]
    return {
        "English prose": PROSE,
        "English, Markdown": _file("docs/briefs.md"),
        "Python code": _file("src/memoranda/briefs/packer.py"),
        "other code": SCRIPT + TABLES,
        "JSON, compact": json.dumps(rows, separators=(",", ":")),
        "JSON, indented": json.dumps(rows, indent=2),
        "hexadecimal ids": "\n".join(_digest(at)[:32] for at in range(100)),
        "Russian": RUSSIAN,
        "Chinese": CHINESE,
        "emoji": EMOJI,
    }


def held_out() -> Mapping[str, str]:
    """What the estimate is checked on, by the same kinds."""
    orders: list[dict[str, Any]] = [
        {
            "orderId": 100_000 + 37 * at,
            "placedAt": f"2026-0{at % 9 + 1}-1{at % 10}T0{at % 10}:15:00Z",
            "customer": {"email": f"buyer{at}@example.com", "vip": at % 7 == 0, "score": at / 8},
            "lines": [{"sku": f"KX-{at:04}", "quantity": at % 5, "note": None}],
        }
        for at in range(40)
    ]
    return {
        "English prose": LETTER,
        "English, Markdown": _file("docs/tenancy.md"),
        "Python code": _file("src/memoranda/memories/finding/service.py"),
        "other code": QUERY,
        "JSON, compact": json.dumps(orders, separators=(",", ":")),
        "JSON, indented": json.dumps(orders, indent=2),
        "hexadecimal ids": "\n".join(
            [*(_digest(at) for at in range(500, 540)), *(_uuid(at) for at in range(60))]
        ),
        "Russian": RUSSIAN_LETTER,
        "Chinese": CHINESE_LETTER,
        "emoji": OTHER_EMOJI,
    }


def _file(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def _digest(seed: int) -> str:
    return hashlib.sha256(str(seed).encode()).hexdigest()


def _uuid(seed: int) -> str:
    return str(uuid.UUID(_digest(seed)[:32]))
