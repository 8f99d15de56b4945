"""The dispatcher alone decides what a failure means."""
