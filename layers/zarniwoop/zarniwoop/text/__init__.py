"""Pure helpers on strings, dates and URLs. No I/O."""
