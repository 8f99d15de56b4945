"""What the garbage collector looks at."""

import gc
from functools import cache


@cache
def settle_heap() -> None:
    """Once in a process: what lives by now stays, and no collection walks through it again.

    A warm function has some 45,000 such objects, mostly of modules, and a full collection of them stops every thread
    for 15 to 25 ms in the middle of a search (measured; `gc.freeze`, Python's documentation of `gc`).
    """
    gc.freeze()
