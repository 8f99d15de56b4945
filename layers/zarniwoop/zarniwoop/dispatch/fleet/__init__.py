"""What all environments share of the providers, and what is left of it while the table is down."""
