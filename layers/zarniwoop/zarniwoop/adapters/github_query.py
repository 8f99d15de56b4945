"""What is asked of GitHub: the kind of search, filters as qualifiers, and the limits of a query.

https://docs.github.com/en/rest/search/search and https://docs.github.com/en/search-github
Quirks: more than five of AND, OR and NOT are refused; `site:` is no qualifier, but a repository or its owner is; issues
and pull requests are one index, and some tokens must say which of them they want.
"""

import re
from dataclasses import dataclass

from zarniwoop.contract.provider import ProviderInstanceConfig
from zarniwoop.contract.request import DateRange, SearchRequest
from zarniwoop.text.pairs import behind, paired
from zarniwoop.text.urls import host_of
from zarniwoop.wire.format import SettingField

MOST_CHARACTERS = 256
MOST_RESULTS = 100
_MOST_OPERATORS = 5
_TOKEN = re.compile(r'"[^"]*"|\S+')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_SAYS_WHICH = re.compile(r"(?<!\S)-?(?:is|type):(?:issue|pr|pull-request)\b", re.IGNORECASE)
_NAME = re.compile(r"[\w.-]{1,100}")
_EXTENSION = re.compile(r"\w{1,20}")

KIND = SettingField(
    name="kind",
    title="Kind",
    description="What is searched: `code` (needs a key), `repositories` or `issues`. Not set: code with a key, "
    "repositories without one.",
    pattern="code|repositories|issues",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The parameters of a search, the filters that they carry, and what had to be left out."""

    params: dict[str, str]
    translated: frozenset[str]
    note: str | None


def kind_of(config: ProviderInstanceConfig) -> str:
    return config.extras.get(KIND.name) or ("repositories" if config.credential_key is None else "code")


def home_of(config: ProviderInstanceConfig) -> str:
    """The host that people see: GitHub's own, or that of an enterprise, whose API has the same."""
    host = host_of(config.base_url or "") or ""
    return "github.com" if host == "api.github.com" else host


def question(request: SearchRequest, kind: str, home: str) -> Question:
    words = paired(request.query).strip()
    query = _within_operators(words)
    qualifiers, translated = _qualifiers(request, kind, home)
    if kind == "issues" and not _SAYS_WHICH.search(query):
        qualifiers.append("is:issue")
    filtered_here = {name for name, _ in request.expert_params.given()} - translated
    size = MOST_RESULTS if filtered_here else request.max_results
    return Question(
        params={"q": behind(qualifiers, query), "per_page": str(size)},
        translated=frozenset(translated),
        note=f"query cut before its operator number {_MOST_OPERATORS + 1}" if query != words else None,
    )


def _within_operators(query: str) -> str:
    """The query before its sixth operator: to leave that one out alone would turn its meaning round."""
    operators = [token for token in _TOKEN.finditer(query) if token.group() in _OPERATORS]
    return query[: operators[_MOST_OPERATORS].start()].strip() if len(operators) > _MOST_OPERATORS else query


def _qualifiers(request: SearchRequest, kind: str, home: str) -> tuple[list[str], set[str]]:
    expert, qualifiers, translated = request.expert_params, list[str](), set[str]()
    if expert.site and (place := _place(expert.site, home)):
        qualifiers.append(place)
        translated.add("site")
    if kind == "code" and expert.filetype and _EXTENSION.fullmatch(expert.filetype):
        qualifiers.append(f"extension:{expert.filetype}")
        translated.add("filetype")
    if kind != "code" and request.published:
        qualifiers.append(_created(request.published))
        translated |= {"date_from", "date_to", "freshness_days"}
    return qualifiers, translated


def _place(site: str, home: str) -> str | None:
    """`github.com/psf` as an owner, `github.com/psf/requests` as a repository; deeper paths are left to our filter."""
    host, *names = site.strip("/").split("/")
    if host.lower() != home or not 1 <= len(names) <= 2 or not all(_NAME.fullmatch(name) for name in names):
        return None
    return f"{'user' if len(names) == 1 else 'repo'}:{'/'.join(names)}"


def _created(window: DateRange) -> str:
    if window.earliest and window.latest:
        return f"created:{window.earliest}..{window.latest}"
    return f"created:>={window.earliest}" if window.earliest else f"created:<={window.latest}"
