"""The passage of a long text that shares most with a question."""

import re

from zarniwoop.text.bm25 import rarity, scores, terms
from zarniwoop.text.plain import clip

PASSAGE_CHARS = 900
_LONGEST_TEXT = 400_000
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def closest_passage(text: str, question: str) -> str:
    """Whole sentences, about 900 characters of them; the beginning when nothing is closer than the rest."""
    passages = _passages(text[:_LONGEST_TEXT])
    if not passages:
        return ""
    read = [terms(passage) for passage in passages]
    found = scores(rarity(terms(question), read), read)
    best = max(range(len(passages)), key=lambda place: (found[place], -place))
    return passages[best]


def _passages(text: str) -> list[str]:
    made: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        sentence = sentence.strip()
        if made and len(made[-1]) + len(sentence) < PASSAGE_CHARS:
            made[-1] = f"{made[-1]} {sentence}"
        elif sentence:
            made.append(clip(sentence, PASSAGE_CHARS))
    return made
