"""How credible a source is, as a sum of named reasons; the same source gets the same score, and no model is asked.

The table of docs/operations.md ("Credibility") is this one. The score is the sum, clamped to 0..1.
"""

from collections.abc import Iterator, Mapping

from zarniwoop.contract.evidence import Evidence, Signal, SourceType
from zarniwoop.evidence.sources import SourceKind, kind_of

BASE = 0.30
KINDS: Mapping[SourceKind, float] = {
    SourceKind.PEER_REVIEWED: 0.40,
    SourceKind.GOVERNMENT: 0.35,
    SourceKind.EDUCATION: 0.25,
    SourceKind.PREPRINT: 0.20,
    SourceKind.ENCYCLOPEDIA: 0.20,
    SourceKind.BOOK: 0.20,
    SourceKind.NEWS: 0.15,
    SourceKind.WEB: 0.0,
    SourceKind.VENDOR: -0.10,
    SourceKind.FORUM: -0.15,
}
PRIMARY = frozenset((SourceKind.PEER_REVIEWED, SourceKind.PREPRINT, SourceKind.GOVERNMENT))
"""They tell of what they themselves did, measured or decided."""
POINTS: Mapping[tuple[str, str], float] = {
    ("origin", "primary"): 0.05,
    ("origin", "secondary"): 0.0,
    ("identifiers", "none"): 0.0,
    ("age", "recent"): 0.05,
    ("age", "settled"): 0.0,
    ("age", "old"): -0.05,
    ("age", "unknown"): -0.05,
    ("author", "named"): 0.05,
    ("author", "unnamed"): 0.0,
    ("connection", "https"): 0.05,
    ("connection", "http"): -0.05,
    ("read", "whole"): 0.0,
    ("read", "cut"): -0.05,
    ("read", "excerpt"): -0.10,
    ("independent_sources", "one"): 0.0,
    ("independent_sources", "two"): 0.05,
    ("independent_sources", "several"): 0.10,
    ("hygiene", "clean"): 0.0,
    ("hygiene", "suspicious"): -0.20,
    ("retraction", "none_known"): 0.0,
    ("retraction", "retracted"): -1.0,
}
_A_YEAR = 365.2425 * 86_400
_RECENT_YEARS, _OLD_YEARS = 2, 10
_EPOCH = 1970
_COUNTED = "independent_sources"


def signals_of(evidence: Evidence, *, independent: int = 1) -> tuple[Signal, ...]:
    """Every reason, those that add nothing too. `independent` is how many indexes of their own named the source."""
    kind = kind_of(evidence)
    return (
        Signal(name="base", value="readable", points=BASE),
        Signal(name="kind", value=kind.value, points=KINDS[kind]),
        _identifiers(evidence),
        *(Signal(name=name, value=value, points=POINTS[name, value]) for name, value in _facts(evidence, kind)),
        _independence(independent),
    )


def signals_again(evidence: Evidence) -> tuple[Signal, ...]:
    """Those of evidence that is read again, as of now; who named its source was counted when it was found."""
    found = {signal.name: signal for signal in evidence.signals if signal.name == _COUNTED}
    return tuple(found.get(signal.name, signal) for signal in signals_of(evidence))


def score_of(signals: tuple[Signal, ...]) -> float:
    """From 0 to 1, in hundredths."""
    return min(1.0, max(0.0, round(sum(signal.points for signal in signals), 2)))


def _facts(evidence: Evidence, kind: SourceKind) -> Iterator[tuple[str, str]]:
    yield "origin", "primary" if kind in PRIMARY else "secondary"
    yield "age", _age(evidence)
    yield "author", "named" if evidence.authors or evidence.byline else "unnamed"
    yield "connection", "https" if evidence.final_url.lower().startswith("https://") else "http"
    yield "read", _extent(evidence)
    yield "hygiene", "suspicious" if evidence.suspicious else "clean"
    yield "retraction", "retracted" if evidence.retracted else "none_known"


def _identifiers(evidence: Evidence) -> Signal:
    """Which there are, by name. `kind` and `origin` have their points: nothing is counted twice."""
    named = sorted(name for name, value in evidence.identifiers.items() if value)
    return Signal(name="identifiers", value=",".join(named) or "none", points=POINTS["identifiers", "none"])


def _age(evidence: Evidence) -> str:
    """Against the moment of reading, so that the score of an evidence does not change while it lies there."""
    written = evidence.published_at.value[:4] if evidence.published_at else ""
    if not written.isdecimal():
        return "unknown"
    years = _EPOCH + evidence.retrieved_at / _A_YEAR - int(written)
    return "recent" if years < _RECENT_YEARS + 1 else "old" if years >= _OLD_YEARS + 1 else "settled"


def _extent(evidence: Evidence) -> str:
    if evidence.source_type is SourceType.SEARCH_HIT:
        return "excerpt"
    return "cut" if evidence.truncated else "whole"


def _independence(count: int) -> Signal:
    value = "one" if count < 2 else "two" if count == 2 else "several"
    return Signal(name=_COUNTED, value=value, points=POINTS[_COUNTED, value])
