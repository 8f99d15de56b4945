"""Bytes of a stranger to text that can be stored and quoted: sniffed, decoded, cleaned of what nobody sees, judged."""
