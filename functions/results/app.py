"""`results`: the hits that did not fit into an answer."""

from zarniwoop.entry.results import results

handler = results()
