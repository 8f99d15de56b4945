"""Menus, errors and missing pages that look like pages, and pages that look like walls: each is told from the other."""

from collections.abc import Sequence

import pytest

from tests.fakes.web_pages import ARTICLE_TEXT, bare
from zarniwoop.contract.page import PageOutcome
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.page import extract_page

SEARCH = '<form action="/search" role="search" class="search"><input name="q"><button>Search</button></form>'
NAMES = [f"{each} {kind}" for each in ("News", "Sport", "Arts", "Money", "Travel") for kind in ("today", "archive",
         "by region", "in pictures", "live", "letters", "guides", "awards")]  # fmt: skip
FOOT = "<footer><p>© 2026 Foundry News. All rights reserved. 12 Mill Lane, Harbour Town.</p></footer>"
APP = '<div id="app"></div><script src="/app.js"></script>'


def read(title: str, body: str, *, url: str = "https://foundry.example/bells") -> Extraction:
    return extract_page(bare(title, body).encode(), url=url, media_type="text/html", charset="utf-8")


def ended(title: str, body: str) -> tuple[PageOutcome, str | None]:
    found = read(title, body)
    assert (found.outcome is PageOutcome.OK) is any(step.outcome is PageOutcome.OK for step in found.steps)
    return found.outcome, found.reason


def links(names: Sequence[str], *, form: str) -> str:
    found = [f'<a href="/{number}">{name}</a>' for number, name in enumerate(names)]
    if form == "run":
        return f"<div>{' '.join(found)}</div>"
    if form == "rows":
        return "".join(f'<div class="item">{each}</div>' for each in found)
    return f"<{form}><ul>{''.join(f'<li>{each}</li>' for each in found)}</ul></{form}>"


@pytest.mark.parametrize("form", ["nav", "header", "div", "run", "rows"])
@pytest.mark.parametrize("foot", ["", FOOT])
def test_a_menu_is_no_page_however_long_it_is(form: str, foot: str) -> None:
    """With a place that a script would fill it needs the script; extractors that drop the links hide nothing."""
    menu = links(NAMES, form=form)
    assert ended("Foundry", menu + APP + foot) == (PageOutcome.NEEDS_JAVASCRIPT, "script_shell")
    assert ended("Foundry", menu + foot)[0] is PageOutcome.EMPTY


SENTENCE = "Which bells hang in the tower, who cast them, and what became of them in the war."
PARTS = "Alloys Moulds Pits Furnaces Ribs Clappers Yokes Towers Tuning Repairs Theft Law Guilds Glossary Sources"
CONTENTS = [f"{number}. {name}" for number, name in enumerate(PARTS.split(), 1)]
INDEXES = {
    "contents": f"<h1>The book of bells</h1><p>{ARTICLE_TEXT[0]}</p>{links(CONTENTS, form='main')}",
    "short links under headings": "".join(f"<h2>Part {part}</h2>{links(CONTENTS, form='div')}" for part in "ABCDE"),
    "descriptions": "<h1>Towers</h1>"
    + "".join(f'<p><a href="/{name}">{name}</a></p><p>{SENTENCE}</p>' for name in NAMES[:12]),
    "headlines": links([f"{name}: what the founders of the valley say of it" for name in NAMES], form="div"),
    "headlines beside an app": links([f"{name}: what the founders of the valley say" for name in NAMES], form="div")
    + '<div id="content"></div><noscript>Please enable JavaScript</noscript><script src="/a.js"></script>',
}


@pytest.mark.parametrize("name", INDEXES)
def test_a_list_of_links_that_is_there_to_be_read_is_a_page(name: str) -> None:
    """It has a heading, or its links are sentences."""
    assert ended("The book of bells", INDEXES[name]) == (PageOutcome.OK, None)


MISSING = {
    "en": "We can't seem to find the page you're looking for.",
    "en typographic": "We can’t seem to find the page you’re looking for.",
    "en may": "The page that you have requested may have been removed.",
    "en unable": "We were unable to find that page; it may be back one day.",
    "de": "Die von Ihnen aufgerufene Seite gibt es leider nicht mehr.",
    "de finden": "Wir konnten die Seite leider nicht finden, die Sie suchen.",
    "fr": "Désolé, la page que vous cherchez a été supprimée.",
    "fr trouver": "Nous ne parvenons pas à trouver cette page.",
    "es": "La página que buscas ya no existe.",
    "es podemos": "Lo sentimos, no podemos encontrar la página solicitada.",
    "it": "La pagina che cerchi non esiste.",
    "it trovare": "Non riusciamo a trovare la pagina che stai cercando.",
    "pt": "A página que procura já não existe.",
    "pt encontrar": "Não conseguimos encontrar a página que você procura.",
    "nl": "De pagina die je zoekt bestaat niet meer.",
    "nl vinden": "We kunnen deze pagina niet vinden, helaas.",
    "pl": "Strona, której szukasz, nie istnieje.",
    "pl znaleźć": "Nie możemy znaleźć tej strony w naszym serwisie.",
    "ru": "Запрашиваемая страница не существует.",
    "ja": "お探しのページは見つかりませんでした。",
    "ja deleted": "このページは削除された可能性があります。",
    "ar": "الصفحة التي تبحث عنها غير موجودة.",
    "ar found": "عذراً، تعذر العثور على هذه الصفحة.",
}


@pytest.mark.parametrize("language", MISSING)
def test_a_missing_page_says_so_in_many_languages(language: str) -> None:
    """In its headline, or in its only sentence under another headline, with where else to go."""
    words = MISSING[language]
    elsewhere = links([f"{name} from the valley of the bells" for name in NAMES], form="div")
    assert ended("Foundry", f"<h1>{words}</h1>{FOOT}") == (PageOutcome.SOFT_404, "says_not_found")
    assert ended("Foundry", f"<h1>Oops!</h1><p>{words}</p>{elsewhere}")[0] is PageOutcome.SOFT_404


TEASERS = "".join(f"<h2>{name}</h2><p>{text}</p>" for name, text in zip(NAMES, ARTICLE_TEXT[:4], strict=False))


def test_a_missing_page_that_tells_other_stories_is_one_all_the_same() -> None:
    """It speaks to its reader, or is sorry, before it does."""
    for said in ("Sorry, there is nothing here.", "Check the address that you have typed, or look at these."):
        assert ended("Page not found", f"<h1>Page not found</h1><p>{said}</p>{TEASERS}")[0] is PageOutcome.SOFT_404


ERRORS = {
    "wordpress": ("Database Error", "<h1>Error establishing a database connection</h1>"),
    "wordpress paragraph": ("Foundry", "<div class='wp-die'><p>Error establishing a database connection</p></div>"),
    "critical": ("WordPress › Error", "<p>There has been a critical error on this website.</p>"),
    "proxy": ("502 Bad Gateway", "<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>"),
    "php": ("", "<b>Fatal error</b>: Uncaught PDOException: SQLSTATE[HY000] [2002] Connection refused in db.php"),
    "mysql": ("Foundry", "<p>Could not connect to database. Please tell the webmaster.</p>"),
    "publisher": (
        "Journal of Bells",
        "<h1>There was a problem providing the content you requested</h1><p>Please contact our support team and "
        "provide the details below.</p><p>Reference number: 8f21</p><p>CPE00001</p>",
    ),
    "wrong": ("Foundry", "<h1>Oops! Something went wrong</h1><p>Please try again in a few minutes.</p>"),
    "edge": (
        "foundry.example | 521: Web server is down",
        "<h1>Web server is down</h1><p>Error code 521</p><h2>What happened?</h2><p>The web server does not answer.</p>"
        "<h2>What can I do?</h2><p>If you are a visitor, please try again in a few minutes, or tell the owner.</p>",
    ),
    "de": ("Fehler", "<h1>Interner Serverfehler</h1><p>Bitte versuchen Sie es später noch einmal.</p>"),
    "fr": ("Erreur", "<h1>Erreur lors de la connexion à la base de données</h1>"),
    "es": ("Error", "<h1>Error al establecer una conexión con la base de datos</h1>"),
    "it": ("Errore", "<h1>Errore nello stabilire una connessione al database</h1>"),
    "pt": ("Erro", "<h1>Erro ao estabelecer uma ligação à base de dados</h1>"),
    "nl": ("Fout", "<h1>Fout bij het maken van een databaseverbinding</h1>"),
    "pl": ("Błąd", "<h1>Błąd połączenia z bazą danych</h1><p>Spróbuj ponownie za chwilę.</p>"),
    "ja": ("エラー", "<h1>データベース接続確立エラー</h1>"),
    "ar": ("خطأ", "<h1>خطأ في الاتصال بقاعدة البيانات</h1>"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_servers_error_is_no_page_whatever_its_status_says(name: str) -> None:
    """The page may be there again later."""
    assert ended(*ERRORS[name]) == (PageOutcome.UNAVAILABLE, "server_error")


def test_a_page_that_only_wants_cookies_is_a_wall() -> None:
    """Some publishers answer so to whoever keeps none."""
    words = "Your browser is set to refuse cookies. This site needs them; change the settings of your browser, please."
    assert ended("Cookies Turned Off", f"<h1>Cookies Turned Off</h1><p>{words}</p>") == (
        PageOutcome.BLOCKED,
        "bot_wall",
    )
    recipe = "Cookies turned off my guests until I browned the butter, and let the dough rest in the cold for a night."
    assert ended("Cookies", f"<h1>Cookies</h1><p>{recipe}</p>")[0] is PageOutcome.OK


LONG = (
    "The response tells a client that there is nothing at this address now, and leaves open whether there ever was, "
    "or will be again one day; caches may keep it for as long as its header says."
)
BANNERS = "".join(f"<p>{each}</p>" for each in (
    "The cookie banner is older than the law that it is blamed on. Consent to tracking was asked for long before "
    "the directive, and the button to accept all was as green then as it is today.",
    "A study of 10 000 sites found that only one in ten lets its readers reject all cookies with the first click. "
    "Personalised advertising pays for the rest, says the industry, whose partners keep the data.",
))  # fmt: skip
BANNER = (
    '<div role="dialog"><p>We and our partners use cookies for personalised ads.</p>'
    "<button>Accept all</button><button>Reject all</button></div>"
)
CODE = "<pre><code>from django.contrib.auth import login\nlogin(request, user)</code></pre>"
PAGES = {
    "docs of a login": (
        "Login | Django documentation",
        f"<h1>Login</h1><p>To log a user in from a view, call login. It keeps the user's id in the session, with the "
        f"session framework. You must be logged in to call it again.</p>{CODE}<p>{ARTICLE_TEXT[5]}</p>{SEARCH}",
    ),
    "docs of a login without code": (
        "Login | Foundry documentation",
        f"<h1>Login</h1><p>{ARTICLE_TEXT[3]}</p><p>The view sends whoever has a session to the page that was asked "
        f"for, and everybody else to the form. Sessions end after a fortnight.</p>{SEARCH}",
    ),
    "help on logging in": (
        "Log in to your account | Foundry Help",
        "<main><h1>Log in to your account</h1><p>Open the menu at the top right and choose the key. Type the address "
        "that you have ordered with, and the word that you chose then.</p><h2>If it fails</h2><p>Look whether the "
        "capitals are locked. Forgot your password? The form has a link below it.</p><h2>On a telephone</h2><p>The "
        f"key is at the bottom.</p></main>{SEARCH}",
    ),
    "comments want a login": (
        "The bell of St. Anne",
        f"<article><h1>The bell of St. Anne</h1><p>{ARTICLE_TEXT[2]}</p></article>"
        "<div id='respond'><p>You must be <a href='/in'>logged in</a> to post a comment.</p></div>",
    ),
    "banners": ("The trouble with the cookie banner", f"<h1>The trouble</h1>{BANNERS}{SEARCH}"),
    "banners behind a banner": ("Cookie consent laws", f"{BANNER}<h1>Cookie laws</h1>{BANNERS}"),
    "cookie law": (
        "Cookies: court says consent must be asked for",
        f"<h1>Court says consent must be asked for</h1>{BANNERS}{SEARCH}",
    ),
    "404 handling": (
        "404 handling | Foundry framework",
        f"<h1>404 handling</h1><p>{LONG}</p><p>Return it from a view when the page was not found:</p>"
        "<pre><code>raise NotFound('bell')</code></pre>",
    ),
    "status code": (
        "404 Not Found - HTTP | Foundry reference",
        f"<h1>404 Not Found</h1><p>{LONG}</p><h2>Example</h2><p>{ARTICLE_TEXT[0]}</p><h2>See also</h2><p>410 is for "
        "what will not be back.</p>",
    ),
    "soft 404s": (
        "Soft 404s: pages that say “not found” with a 200",
        f"<h1>Soft 404s</h1><p>{LONG}</p><p>{LONG}</p><p>A page that could not be found should say so. {LONG}</p>",
    ),
    "a car": ("Peugeot 404", f"<h1>Peugeot 404</h1><p>{ARTICLE_TEXT[2]} {ARTICLE_TEXT[3]} {ARTICLE_TEXT[4]}</p>"),
    "access denied": (
        "Access Denied errors in the bucket",
        f"<h1>Access Denied errors in the bucket</h1><p>You don't have permission to access the object, says the "
        f"store. {LONG}</p><p>{LONG}</p><p>{LONG}</p><script src='https://static.cloudflareinsights.com/b.js'></script>",
    ),
    "database errors": (
        "Error establishing a database connection: how to fix it",
        f"<h1>Error establishing a database connection: how to fix it</h1><p>{LONG}</p><p>{LONG}</p>",
    ),
    "a list of codes": (
        "Status codes",
        "<h1>Status codes</h1><ul><li>404 Not Found: nothing is here.</li><li>502 Bad Gateway: another.</li></ul>",
    ),
    "a question": (
        "Error establishing a database connection - Foundry forum",
        "<h1>Error establishing a database connection</h1><p>Since yesterday my site says so and nothing else, though "
        f"I changed only the password of the host. Where does it stand?</p><p>{ARTICLE_TEXT[3]}</p>",
    ),
    "a story": (
        "The ninth bell",
        f"<h1>The ninth bell</h1><p>Something went wrong in the pit. {ARTICLE_TEXT[1]} {ARTICLE_TEXT[2]}</p>",
    ),
    "de": ("Was tun bei „Seite nicht gefunden“? Ratgeber", f"<h1>Ratgeber</h1><p>{ARTICLE_TEXT[3] * 3}</p>"),
    "ja": ("404エラーの対処方法", f"<h1>404エラーの対処方法</h1><p>{'鐘は青銅で鋳られ、塔に吊るされた。' * 8}</p>"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_about_walls_and_errors_is_a_page(name: str) -> None:
    """Also a short one, with a search form, code, or the site's own banner."""
    assert ended(*PAGES[name]) == (PageOutcome.OK, None)


LOGINS = {
    "action": '<h1>Sign in</h1><form action="/account/login"><input name="who"><button>Next</button></form>',
    "user name": '<h1>Sign in</h1><form action="/next"><input autocomplete="username"><button>Next</button></form>',
    "customers": "<h1>Sign in</h1><h2>New customers</h2><p>Open an account to see what you ordered and when.</p>"
    '<h2>Returning customers</h2><form action="/x"><input name="who"><input type="password"></form>',
    "another's": "<h1>Sign in</h1><p>Use the account of your workplace.</p><a href='/g'>Continue with Google</a>",
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_without_a_password_is_one_by_where_its_form_leads(name: str) -> None:
    """Many ask for the password on the next page only."""
    assert ended("Sign in", LOGINS[name]) == (PageOutcome.LOGIN_REQUIRED, "login")
