"""The tools: arguments in, one call, a typed answer out."""
