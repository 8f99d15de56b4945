"""`page_fetcher`: one page of a stranger's, fetched and read where nothing of ours is in reach."""

from zarniwoop.entry.page_fetcher import page_fetcher

handler = page_fetcher()
