"""Languages and regions by their codes: which exist, and what libraries call the languages.

ISO 639-1 (https://www.loc.gov/standards/iso639-2/), ISO 3166-1 alpha-2, and the codes of MARC that the catalogues of
NCBI and Open Library use (https://www.loc.gov/marc/languages/).
Quirk: MARC takes the bibliographic code where there are two (`ger`, not `deu`), and one for both kinds of Norwegian.
"""

from collections import Counter
from collections.abc import Mapping
from unicodedata import name

_LANGUAGES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja "
    "jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb "
    "nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so "
    "sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ace "
    "ang arc ary arz ast azb ban bar bcl bpy bug bxr cdo ceb chr ckb cmn crh csb dag din diq dsb fil frp frr fur gag "
    "gan glk gom gor got gsw hak haw hif hsb ilo jam jbo kaa kab kbd kbp koi krc ksh lad lez lij lld lmo ltg mad mai "
    "mdf mhr min mnw mrj mwl myv mzn nan nap nds new nia nov nso olo pag pam pap pcd pdc pfl pms pnb pnt rmy rue sah "
    "sat scn sco shi shn skr smn srn stq szl tcy tet tpi trv tum tyv udm vec vep vls war wuu xal xmf yue zea"
)
_REGIONS = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ "
    "CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO "
    "FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE "
    "JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO "
    "MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW "
    "PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM "
    "TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
)
_MARC_CODES = (
    "af:afr ar:ara az:aze bg:bul bs:bos ca:cat cs:cze cy:wel da:dan de:ger el:gre en:eng eo:epo es:spa et:est fa:per "
    "fi:fin fr:fre he:heb hi:hin hr:hrv hu:hun hy:arm id:ind is:ice it:ita ja:jpn ka:geo ko:kor la:lat lt:lit lv:lav "
    "mk:mac ms:may nb:nor nl:dut no:nor pl:pol pt:por ro:rum ru:rus sk:slo sl:slv sq:alb sr:srp sv:swe th:tha tr:tur "
    "uk:ukr ur:urd vi:vie zh:chi"
)

LANGUAGES = frozenset(_LANGUAGES.split())
"""ISO 639-1, and the languages that have a Wikipedia and only three letters; each as BCP 47 writes it."""

REGIONS = frozenset(_REGIONS.split())
"""ISO 3166-1 alpha-2, without the codes that are free for private use."""

MARC_CODES: Mapping[str, str] = dict(pair.split(":") for pair in _MARC_CODES.split())
"""Of languages that both catalogues hold; what is not here cannot be asked for."""

LANGUAGE_OF_MARC: Mapping[str, str] = {code: language for language, code in sorted(MARC_CODES.items())}

_SCRIPTS: Mapping[str, frozenset[str]] = {
    script: frozenset(languages.split())
    for script, languages in {
        "ARABIC": "ar fa ur ps ckb sd ug arz",
        "ARMENIAN": "hy",
        "BENGALI": "bn as bpy",
        "CJK": "zh ja",
        "CYRILLIC": "ru uk bg sr mk be kk ky mn tg tt ba ce cv os sah",
        "DEVANAGARI": "hi mr ne sa new",
        "ETHIOPIC": "am ti",
        "GEORGIAN": "ka xmf",
        "GREEK": "el pnt",
        "GUJARATI": "gu",
        "GURMUKHI": "pa",
        "HANGUL": "ko",
        "HEBREW": "he yi",
        "HIRAGANA": "ja",
        "KANNADA": "kn",
        "KATAKANA": "ja",
        "KHMER": "km",
        "LAO": "lo",
        "MALAYALAM": "ml",
        "MYANMAR": "my shn mnw",
        "ORIYA": "or",
        "SINHALA": "si",
        "TAMIL": "ta",
        "TELUGU": "te",
        "THAI": "th",
        "TIBETAN": "bo dz",
    }.items()
}
_ONE_LANGUAGE = {"nb": "no", "simple": "en"}


def primary_language(tag: str) -> str:
    """The language behind a tag or a wiki's name: `zh-yue` is `zh`; Norwegian and simple English have two names."""
    first = tag.lower().partition("-")[0]
    return _ONE_LANGUAGE.get(first, first)


def languages_written(text: str) -> frozenset[str]:
    """Which languages a text may be in, by the script of most of its letters; none for Latin, which says nothing.

    Japanese is told from Chinese by its kana.
    """
    if text.isascii():
        return frozenset()
    scripts = Counter(name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    if not scripts:
        return frozenset()
    if scripts["HIRAGANA"] + scripts["KATAKANA"]:
        scripts["HIRAGANA"] += scripts.pop("CJK", 0) + scripts.pop("KATAKANA", 0)
    script, letters = scripts.most_common(1)[0]
    return _SCRIPTS.get(script, frozenset()) if letters * 2 > scripts.total() else frozenset()
