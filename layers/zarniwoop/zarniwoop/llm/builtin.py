"""The planner and judge for projects without a model: word counting, no network, the same answer every time.

It answers the recipes whose answers can be counted out and no other, in the JSON that a model would give (seed 1,
section 7). A query consists of the question's words, or of words out of titles that were found, never of others; scores
are BM25; every text is a fixed sentence around facts. It imitates no prose.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zarniwoop.contract.modality import SearchModality
from zarniwoop.llm.builtin_words import CUES, EITHER, ENGLISH, GERMAN, HINT_WORDS, NOISE
from zarniwoop.text.bm25 import rarity, scores, terms, words

KEEP_FROM = 0.15
"""The least relevance that is kept."""

_GENERAL = (SearchModality.WEB, SearchModality.ENCYCLOPEDIA, SearchModality.ACADEMIC)
_SPECIALISED = 2
"""A provider with at most so many modalities beside WEB is at home in them; a general one's hint points nowhere."""
_TITLE_COUNTS = 3
_FULL_MARKS = 0.5
"""A hit that carries this part of the question's weight is fully relevant, even when a batch holds nothing better."""
_LEAST_WEIGHT = 1.0
"""The hits were searched for with these words: one that nearly all of them have is their subject, not noise."""
_EDGES = "\"'“”„‘’‚«»‹›()[]{}<>.,;:!?¿¡…、。，！？「」『』*_`"
_NEGATED = re.compile(r"\b(?:no|not|never)\b[^.;:]*")
_MOST_TITLE_WORDS = 3

Variables = Mapping[str, Any]
Answer = dict[str, Any]


def plan(variables: Variables) -> Answer:
    """One search per suitable modality; none for a question without a word (recipe `zarniwoop-research-plan`)."""
    question = variables["question"]
    similar = _similarity(question, variables["providers"])
    chosen = _modalities(question, variables, similar)
    kept = _telling_words(question)
    searches = [_search(modality, kept, variables, similar) for modality in chosen if kept]
    reasons = ", ".join(f"{modality} ({reason})" for modality, reason in chosen.items())
    return {"searches": searches, "rationale": f"Planned without a model, from the question's words: {reasons}."}


def evaluate(variables: Variables) -> Answer:
    """A verdict for each hit by what it shares with the question; none when the question has no words to go by."""
    asked = list(dict.fromkeys(terms(" ".join(_telling_words(variables["question"])))))
    hits = variables["hits"]
    texts = [terms(hit.get("title", "")) * _TITLE_COUNTS + terms(hit.get("snippet", "")) for hit in hits]
    weights = {term: max(weight, _LEAST_WEIGHT) for term, weight in rarity(asked, texts).items()}
    found = scores(weights, texts)
    full = max([*found, _FULL_MARKS * sum(weights.values())]) if asked else 0.0
    verdicts = [
        _verdict(hit["key"], score / full, len(weights.keys() & set(text)), len(asked))
        for hit, text, score in zip(hits, texts, found, strict=True)
        if full
    ]
    return {"verdicts": verdicts}


def refine(variables: Variables) -> Answer:
    """The same modalities with fewer words, or with those of the titles that proved right (`…-refine`)."""
    asked = _telling_words(variables["question"])
    right = [hit for hit in variables["hits"] if hit.get("verdict") == "keep"]
    borrowed = _frequent_title_words(right, asked)
    if borrowed:
        kept = [*_found_in(right, asked), *borrowed]
        how = f"the words of {len(right)} titles that proved right"
    else:
        kept = _without_the_rarest(asked, variables["hits"])
        how = f"{len(asked) - len(kept)} of {len(asked)} words left out"
    similar = _similarity(variables["question"], variables["providers"])
    before = dict.fromkeys(each["modality"] for each in variables["previous"])
    modalities = [SearchModality(each) for each in before if each in variables["modalities"]]
    searches = [_search(modality, kept, variables, similar) for modality in modalities if kept]
    count = variables["survivors"]
    rationale = f"Second wave, planned without a model: {count} hits survived, {variables['threshold']} wanted; {how}."
    return {"searches": searches[: variables["max_searches"]], "rationale": rationale}


BUILTIN_ANSWERS: Mapping[str, Callable[[Variables], Answer]] = {
    "zarniwoop-research-plan": plan,
    "zarniwoop-research-evaluate": evaluate,
    "zarniwoop-research-refine": refine,
}


def _modalities(question: str, variables: Variables, similar: Mapping[str, float]) -> dict[SearchModality, str]:
    """The suitable modalities and why: the question names it, it is WEB, a hint points to it; or it is general."""
    served = [SearchModality(each) for each in variables["modalities"]]
    chosen = {modality: f"the question says '{cue}'" for modality in served if (cue := _cue(question, modality))}
    if SearchModality.WEB in served:
        chosen.setdefault(SearchModality.WEB, "always asked")
    for card in variables["providers"]:
        special = [each for each in card["modalities"] if each != SearchModality.WEB and each in served]
        if similar[card["id"]] > 0 and len(special) <= _SPECIALISED:
            for each in special:
                chosen.setdefault(SearchModality(each), f"the hint of '{card['id']}' has words of the question")
    if not set(chosen) - {SearchModality.WEB}:
        general = [each for each in _GENERAL if each in served] or served[:1]
        for modality in general:
            chosen.setdefault(modality, "a general index; the question names no field")
    return dict(list(chosen.items())[: variables["max_searches"]])


def _cue(question: str, modality: SearchModality) -> str | None:
    said = f" {' '.join(words(question))} "
    return next((cue for cue in CUES.get(modality, ()) if f" {cue} " in said), None)


def _similarity(question: str, providers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How much each provider's hint has of the question, 0..1; what a hint says it does not hold does not count."""
    asked = [term for term in terms(" ".join(_telling_words(question))) if term not in HINT_WORDS | ENGLISH | GERMAN]
    hints = [terms(_NEGATED.sub("", card["hint"]) + " " + " ".join(card["modalities"])) for card in providers]
    found = scores(rarity(asked, hints), hints)
    best = max(found, default=0.0)
    return {card["id"]: score / best if best else 0.0 for card, score in zip(providers, found, strict=True)}


def _search(
    modality: SearchModality, kept: Sequence[str], variables: Variables, similar: Mapping[str, float]
) -> Answer:
    """The words without those that only name the modality, and affinities of 0.8 to 1.2 by likeness of the hints."""
    noise = NOISE.get(modality, frozenset())
    telling = [word for word in kept if not noise.issuperset(words(word))] or kept
    serving = [card["id"] for card in variables["providers"] if modality in card["modalities"]]
    known = any(similar[each] for each in serving)
    return {
        "query": _within(" ".join(telling), variables["max_query_chars"]),
        "modality": str(modality),
        "sourceAffinity": {each: round(0.8 + 0.4 * similar[each], 2) if known else 1.0 for each in serving},
    }


def _telling_words(question: str) -> list[str]:
    """The question's words as they are written, without stop words; all of them when nothing else is left.

    A word in capitals is a name, not a stop word: WHO, US, hepatitis A.
    """
    written = [bare for word in question.split() if (bare := word.strip(_EDGES))]
    shouting = question.isupper()
    stop_words = _stop_words(question)
    told = [
        word
        for place, word in enumerate(written)
        if not stop_words.issuperset(words(word))
        or not (shouting or word == "I" or not word.isupper() or (place == 0 and len(word) == 1))
    ]
    return list(dict.fromkeys(told)) or written


def _stop_words(question: str) -> frozenset[str]:
    """Those of the language that the question has more of: in English, `die` and `war` are its matter."""
    said = words(question)
    german = sum(word in GERMAN and word not in EITHER for word in said)
    english = sum(word in ENGLISH and word not in EITHER for word in said)
    return GERMAN if german > english else ENGLISH


def _within(query: str, limit: int) -> str:
    """At most `limit` characters, cut at a word where there is one to cut at."""
    return query if len(query) <= limit else query[: limit + 1].rpartition(" ")[0] or query[:limit]


def _verdict(key: str, relevance: float, shared: int, asked: int) -> Answer:
    relevance = round(relevance, 4)
    if relevance >= KEEP_FROM:
        verdict, reason = "keep", f"shares {shared} of {asked} words with the question"
    else:
        verdict, reason = "drop", f"shares {'few' if shared else 'no'} words with the question"
    return {
        "key": key,
        "verdict": verdict,
        "relevanceScore": relevance,
        "reason": f"{reason} (bm25 {relevance:.2f})",
    }


def _frequent_title_words(hits: Sequence[Mapping[str, str]], asked: Iterable[str]) -> list[str]:
    """The words that at least two of the titles have and the question has not, the most frequent first."""
    known = set(terms(" ".join(asked)))
    counts: Counter[str] = Counter()
    for hit in hits:
        counts.update(list(dict.fromkeys(words(hit.get("title", "")))))
    shared = [word for word, count in counts.most_common() if count > 1 and known.isdisjoint(terms(word))]
    telling = [word for word in shared if word not in ENGLISH | GERMAN and not word.isdigit()]
    return telling[:_MOST_TITLE_WORDS]


def _found_in(hits: Sequence[Mapping[str, str]], asked: Iterable[str]) -> list[str]:
    """The question's words that some of the hits have."""
    there = {term for hit in hits for term in _terms_of(hit)}
    return [word for word in asked if not there.isdisjoint(terms(word))]


def _without_the_rarest(asked: Sequence[str], hits: Sequence[Mapping[str, str]]) -> list[str]:
    """About two thirds of the words: those go that the fewest hits have, of equals the longest, of these the last."""
    holding = Counter(term for hit in hits for term in _terms_of(hit))
    places = sorted(
        range(len(asked)),
        key=lambda at: (-max((holding[term] for term in terms(asked[at])), default=0), len(asked[at]), at),
    )
    kept = set(places[: len(asked) - max(1, len(asked) // 3)])
    return [word for at, word in enumerate(asked) if at in kept]


def _terms_of(hit: Mapping[str, str]) -> set[str]:
    return set(terms(f"{hit.get('title', '')} {hit.get('snippet', '')}"))
