"""What a call may cost, and what has been spent."""
