"""What an ended command says to a script. These numbers are stable: scripts stand on them."""

from enum import IntEnum


class Exit(IntEnum):
    ANSWERED = 0
    NOT_ANSWERED = 1
    USAGE = 2
    REFUSED = 3
    UNREACHABLE = 4
    NOT_NOW = 5
    INTERRUPTED = 130


MEANING = {
    Exit.ANSWERED: "answered, be it with nothing found",
    Exit.NOT_ANSWERED: "nobody could answer, or the tool said no: asking the same again will not help",
    Exit.USAGE: "the command or an argument is wrong",
    Exit.REFUSED: "the token is refused: unknown, expired, or not good for this",
    Exit.UNREACHABLE: "nobody there, or somebody who is no Zarniwoop",
    Exit.NOT_NOW: "throttled, out of time, or down for now: the same may work later",
    Exit.INTERRUPTED: "interrupted (Ctrl-C)",
}

_FAULTY = frozenset((400, 405, 413, 415, 422))
_DENIED = frozenset((401, 403))
_NOBODY_THERE = ("urn:zarniwoop:client:unreachable", "urn:zarniwoop:client:unintelligible")


def exit_of(problem_type: str, status: int, *, retryable: bool) -> Exit:
    """What a problem means for whoever asked."""
    if problem_type in _NOBODY_THERE:
        return Exit.UNREACHABLE
    if status in _DENIED:
        return Exit.REFUSED
    if retryable:
        return Exit.NOT_NOW
    return Exit.USAGE if status in _FAULTY else Exit.NOT_ANSWERED
