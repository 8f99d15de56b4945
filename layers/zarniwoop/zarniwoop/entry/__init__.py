"""What every app.py is wrapped in."""
