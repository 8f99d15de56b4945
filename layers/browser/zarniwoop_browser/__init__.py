"""The browser's process: a page is rendered in here; each of its requests is asked of the parent, who has the guard."""
