"""What the API answers with, by subject."""
