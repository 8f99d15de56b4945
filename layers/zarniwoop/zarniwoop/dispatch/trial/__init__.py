"""A draft of an endpoint, put to the test."""
