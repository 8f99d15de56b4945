"""Catalogues of what there is, for people and models."""
