"""The code that README and docs print, and how the suite runs each piece of it."""
