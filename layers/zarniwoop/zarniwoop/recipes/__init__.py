"""The recipes, as package data: what models are asked."""
