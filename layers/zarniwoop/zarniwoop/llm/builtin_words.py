"""The word lists of the built-in planner, English and German, as `text.bm25.words` writes them: folded, no accents."""

from collections.abc import Mapping

from zarniwoop.contract.modality import SearchModality


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _phrases(listed: str) -> tuple[str, ...]:
    return tuple(listed.split("|"))


ENGLISH = _words(
    """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each either else ever
    few for from further get give given got had hadn has hasn have haven having he her here hers him his how however
    i if in into is isn it its itself just know let list ll m many may me might more most much must my need no nor
    not of off on once one only or other our ours out over own please re s same shall she should shouldn show so
    some such t tell than that the their them then there these they this those through to too under until up upon us
    ve very want was wasn we were weren what when where whether which while who whom whose why with within without
    won would wouldn you your yours describe explain find
    """
)
"""Words of an English question that say nothing of its matter."""

GERMAN = _words(
    """
    aber alle als am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den denn der des dich die
    dies diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er es euch fur gegen
    gibt hab habe haben hat hatte ich ihm ihn ihr ihre im in ist ja jede jeder jedes kann kein keine konnen mein
    mich mir mit muss nach nicht noch nur ob oder ohne sein seine sich sie sind so soll uber um und uns unser vom
    von vor wann war waren warum was wegen weil welche welchem welchen welcher welches wem wen wenn wer werden wie
    wieso wieviel wir wird wo wohin woher wurde wurden zu zum zur zwischen bitte erklare zeige finde
    """
)
"""The same for German."""

EITHER = _words("also am an bin die hat in so war was")
"""Words that do not tell which of the two languages a question is written in."""

CUES: Mapping[SearchModality, tuple[str, ...]] = {
    SearchModality.ACADEMIC: _phrases(
        "paper|papers|study|studies|trial|trials|review|reviews|meta analysis|meta analyses|"
        "metaanalysis|preprint|preprints|journal|journals|peer reviewed|literature|cohort|randomized|"
        "randomised|clinical|scientific|scholarly|doi|arxiv|pubmed|studie|studien|metaanalyse|"
        "forschung|fachartikel|wissenschaftlich|wissenschaftliche|effect of|effects of|efficacy|"
        "effectiveness|therapy|patients|mortality|risk factors|wirkung von|wirksamkeit|therapie"
    ),
    SearchModality.NEWS: _phrases(
        "news|latest|today|yesterday|announce|announced|announces|announcement|breaking|headlines|"
        "this week|this month|nachrichten|neueste|neuesten|aktuell|aktuelle|aktuellen|heute|gestern"
    ),
    SearchModality.BOOK: _phrases(
        "book|books|isbn|author|authors|novel|novels|textbook|textbooks|buch|bucher|autor|autorin|"
        "autoren|roman|romane|lehrbuch"
    ),
    SearchModality.ENCYCLOPEDIA: _phrases(
        "who is|who was|who are|who were|what is|what are|what was|define|definition|meaning of|"
        "history of|biography|wer ist|wer war|was ist|was sind|was war|was bedeutet|bedeutung|"
        "geschichte|biografie"
    ),
    SearchModality.IMAGE: _phrases("image|images|photo|photos|picture|pictures|bild|bilder|foto|fotos"),
    SearchModality.VIDEO: _phrases("video|videos|youtube"),
    SearchModality.PDF: _phrases("pdf|pdfs"),
    SearchModality.MAP: _phrases("map|maps|where is|where are|near me|directions|karte|stadtplan|wo ist|wo liegt"),
    SearchModality.CODE: _phrases("code|source code|github|gitlab|repository|repositories|quellcode"),
    SearchModality.INTERNAL_DOC: _phrases("internal|intranet|our company|our team|our policy|intern|interne"),
    SearchModality.RAG: _phrases("internal|intranet|our company|our team|our policy|intern|interne"),
}
"""Words of a question that name a modality."""

NOISE: Mapping[SearchModality, frozenset[str]] = {
    SearchModality.ACADEMIC: _words(
        "paper papers study studies literature scientific scholarly arxiv pubmed studie studien forschung"
    ),
    SearchModality.NEWS: _words("news latest today breaking headlines nachrichten neueste neuesten heute"),
    SearchModality.BOOK: _words("book books isbn author authors novel novels buch bucher"),
    SearchModality.ENCYCLOPEDIA: _words("define definition"),
    SearchModality.IMAGE: _words("image images photo photos picture pictures bild bilder foto fotos"),
    SearchModality.VIDEO: _words("video videos youtube"),
    SearchModality.PDF: _words("pdf pdfs"),
    SearchModality.MAP: _words("map maps directions karte stadtplan"),
    SearchModality.CODE: _words("code github gitlab"),
}
"""Of these, the words that no hit of the modality needs to have: they only name it."""

HINT_WORDS = _words(
    """
    answer ask catalogue charge check choose credit data every field find first fact free hint hit hold holds index
    indexe instance language list look marked mark name narrow narrows new own passed question record rest search
    searche since source text title word work write year
    """
)
"""Words (as terms) that hints use to speak of themselves; a question that has them is not about them."""
