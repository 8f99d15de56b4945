"""PubMed's XML: the result of esearch and the article set of efetch, each with its DOCTYPE.

https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/
Quirks: the DOCTYPE names an external DTD; `<i>`, `<sub>` and `<sup>` stand inside titles and abstracts; an abstract is
several `AbstractText` with labels or one without; a group of authors is a `CollectiveName`.
"""

from collections.abc import Sequence
from html import escape

from tests.simulator.corpus import Work, initials

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
LANGUAGES = {"en": "eng", "de": "ger"}


def search_result(count: int, start: int, ids: Sequence[str], term: str) -> str:
    listed = "".join(f"<Id>{uid}</Id>\n" for uid in ids)
    problems, translated = "", f"{escape(term)}[All Fields]"
    if count == 0:
        problems = (
            f"<ErrorList><PhraseNotFound>{escape(term)}</PhraseNotFound></ErrorList>"
            "<WarningList><OutputMessage>No items found.</OutputMessage></WarningList>"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n'
        '<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" '
        '"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
        f"<eSearchResult><Count>{count}</Count><RetMax>{len(ids)}</RetMax><RetStart>{start}</RetStart>"
        + (f"<IdList>\n{listed}</IdList>" if ids else "<IdList/>")
        + f"<TranslationSet/><QueryTranslation>{translated}</QueryTranslation>{problems}</eSearchResult>\n"
    )


def article_set(works: Sequence[Work]) -> str:
    return (
        '<?xml version="1.0" ?>\n'
        '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
        "<PubmedArticleSet>\n" + "".join(_article(work) for work in works) + "</PubmedArticleSet>\n"
    )


def _article(work: Work) -> str:
    abbreviation = escape(work.venue_abbreviation or work.venue)
    kinds = ["Journal Article", *(["Retracted Publication"] if work.is_retracted else [])]
    types = "".join(f"<PublicationType>{kind}</PublicationType>" for kind in kinds)
    title = _marked(work.title)
    return (
        '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">'
        f'<PMID Version="1">{work.pmid}</PMID><Article PubModel="Print">{_journal(work)}'
        f"<ArticleTitle>{title if title.endswith(('?', '.')) else title + '.'}</ArticleTitle>"
        f"{_pagination(work)}{_location(work)}<Abstract>{_abstract(work)}</Abstract>"
        f'<AuthorList CompleteYN="Y">{"".join(_author(author) for author in work.authors)}</AuthorList>'
        f"<Language>{LANGUAGES.get(work.language, 'und')}</Language>"
        f"<PublicationTypeList>{types}</PublicationTypeList></Article>"
        f"<MedlineJournalInfo><MedlineTA>{abbreviation}</MedlineTA></MedlineJournalInfo>"
        f"{_corrections(work)}<MeshHeadingList>{_headings(work)}</MeshHeadingList></MedlineCitation>"
        f"<PubmedData><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>{_article_ids(work)}</ArticleIdList>"
        "</PubmedData></PubmedArticle>\n"
    )


def _journal(work: Work) -> str:
    issn = f'<ISSN IssnType="Print">{work.issn}</ISSN>' if work.issn else ""
    volume = f"<Volume>{work.volume}</Volume>" if work.volume else ""
    issue = f"<Issue>{work.issue}</Issue>" if work.issue else ""
    return (
        f'<Journal>{issn}<JournalIssue CitedMedium="Internet">{volume}{issue}<PubDate>{_date(work.published)}</PubDate>'
        f"</JournalIssue><Title>{escape(work.venue)}</Title>"
        f"<ISOAbbreviation>{escape(work.venue_abbreviation or work.venue)}</ISOAbbreviation></Journal>"
    )


def _date(published: str) -> str:
    year, *rest = published.split("-")
    month = f"<Month>{MONTHS[int(rest[0]) - 1]}</Month>" if rest else ""
    day = f"<Day>{rest[1]}</Day>" if len(rest) > 1 else ""
    return f"<Year>{year}</Year>{month}{day}"


def _pagination(work: Work) -> str:
    return f"<Pagination><MedlinePgn>{work.pages}</MedlinePgn></Pagination>" if work.pages else ""


def _location(work: Work) -> str:
    return f'<ELocationID EIdType="doi" ValidYN="Y">{escape(work.doi)}</ELocationID>' if work.doi else ""


def _abstract(work: Work) -> str:
    if not work.sections:
        return f"<AbstractText>{_marked(work.abstract)}</AbstractText>"
    return "".join(
        f'<AbstractText Label="{label}" NlmCategory="{label}">{_marked(text)}</AbstractText>'
        for label, text in work.sections
    )


def _marked(text: str) -> str:
    """Text whose own `<i>`, `<sub>` and `<sup>` stay markup while everything else is escaped."""
    escaped = escape(text, quote=False)
    for tag in ("i", "sub", "sup"):
        escaped = escaped.replace(f"&lt;{tag}&gt;", f"<{tag}>").replace(f"&lt;/{tag}&gt;", f"</{tag}>")
    return escaped


def _author(author: str) -> str:
    last, comma, first = author.partition(", ")
    if not comma:
        return f'<Author ValidYN="Y"><CollectiveName>{escape(author)}</CollectiveName></Author>'
    return (
        f'<Author ValidYN="Y"><LastName>{escape(last)}</LastName><ForeName>{escape(first)}</ForeName>'
        f"<Initials>{escape(initials(first))}</Initials></Author>"
    )


def _corrections(work: Work) -> str:
    if not work.is_retracted:
        return ""
    notice = f"<RefSource>{escape(work.venue_abbreviation or work.venue)}. 2010 Feb 6;375(9713):445</RefSource>"
    return (
        f'<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn">{notice}</CommentsCorrections>'
        "</CommentsCorrectionsList>"
    )


def _headings(work: Work) -> str:
    return "".join(
        f'<MeshHeading><DescriptorName MajorTopicYN="N">{escape(keyword)}</DescriptorName></MeshHeading>'
        for keyword in work.keywords
    )


def _article_ids(work: Work) -> str:
    known = {"pubmed": work.pmid, "pmc": work.pmcid, "doi": work.doi}
    return "".join(f'<ArticleId IdType="{kind}">{escape(value)}</ArticleId>' for kind, value in known.items() if value)
