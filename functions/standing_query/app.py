"""`standing_query`: a search on a schedule that reports what it had not found before."""

from zarniwoop.entry.standing_query import standing_query

handler = standing_query()
