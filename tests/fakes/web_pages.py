"""Pages of the web as they are written: an article in its site, and bare pages for what stands before one."""

ARTICLE_TEXT = (
    "The bells of the old foundry were cast in bronze, and every founder kept the alloy to himself for as long "
    "as he lived.",
    "A pit was dug below the furnace, and the mould stood in it for three weeks before anybody dared to open it.",
    "Of the twelve bells that left the yard in the last year of the war, only two came back to their towers.",
    "The notice period of the contract was three months to the end of a quarter, unless both sides agreed otherwise.",
    "Visitors may watch the casting on the first Friday of the month, from a gallery behind a wall of thick glass.",
    "What a bell sounds like is decided by its rib, the curve of its wall, which is drawn before anything else.",
)


def bare(title: str, body: str, *, head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def article(
    title: str, *, paragraphs: int = 6, topic: str = "", before: str = "", after: str = "", head: str = ""
) -> str:
    """A page with its menu and its foot; every second paragraph also says the topic."""
    texts = [
        f"<p>{ARTICLE_TEXT[number % len(ARTICLE_TEXT)]} {topic if number % 2 == 0 else ''}</p>"
        for number in range(paragraphs)
    ]
    menu = '<nav class="menu"><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav>'
    foot = '<footer><p>© 2026 Foundry News. All rights reserved.</p><a href="/imprint">Imprint</a></footer>'
    body = f"{before}{menu}<article><h1>{title}</h1>{''.join(texts)}</article>{after}{foot}"
    whole = f"<head><title>{title} | Foundry News</title>{head}</head><body>{body}</body>"
    return f'<!doctype html><html lang="en">{whole}</html>'
