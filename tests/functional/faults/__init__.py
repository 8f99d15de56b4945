"""One fault a row: what breaks, and what is right then. `scenario` is what every row is made of."""
