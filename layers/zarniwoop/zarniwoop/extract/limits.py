"""How much of a page is read, each bound where it is known to hold (security-notes: what parsers take per megabyte)."""

MOST_MARKDOWN = 1_000_000
"""Characters. What stands behind them is not read, and the page is marked as cut."""
MOST_MARKDOWN_BYTES = 2_500_000
MOST_HTML_BYTES = 1_200_000
"""Of the cleaned markup; a question's answer has to fit into one invocation's."""
MOST_LINKS = 500
MOST_LINK_CHARS = 2_000
MOST_LINK_TEXT = 200
MOST_TAGS = 20_000
MOST_DEPTH = 500
MOST_TREE_CHARS = 1_500_000
"""Beyond any of the three, trafilatura and readability take longer than their time; the linear reader does not."""
MOST_EVENTS = 800_000
"""Tags, texts and comments of one page that are looked at."""
MOST_PDF_PAGES = 1_000
MOST_JSON_DEPTH = 24
MOST_JSON_BYTES = 5_000_000
MOST_FEED_ENTRIES = 200
LONGEST_TITLE = 500
LONGEST_FIELD = 300
LEAST_WEIGHT = 40
"""Less text than that is no page. Ideographs weigh more than letters (`text_weight`)."""
