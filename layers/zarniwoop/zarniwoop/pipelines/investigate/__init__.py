"""`research_investigate` (seed 1, section 7): plan, search, merge, evaluate, refine, rank.

The steps are pure. What passes between them is small frozen values that orjson writes as they are and that `from_json`
reads back; bodies stay in run files.
"""
