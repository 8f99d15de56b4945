"""What stands before a page is never taken for it, and what only speaks of walls is never taken for one."""

import pytest

from tests.fakes.web_pages import ARTICLE_TEXT, article, bare
from zarniwoop.contract.page import PageOutcome
from zarniwoop.extract.outcome import Extraction
from zarniwoop.extract.page import extract_page

SITE = '<nav><a href="/">Home</a> <a href="/news">News</a> <a href="/about">About us</a></nav>'
FOOT = '<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy policy</a> © 2026 Foundry News</footer>'
LOGIN_FORM = (
    '<form action="/session"><input name="user"><input type="password" name="secret"><button>Go</button></form>'
)


def read(markup: str, *, url: str = "https://foundry.example/bells", status: int = 200) -> Extraction:
    return extract_page(markup.encode(), url=url, media_type="text/html", charset="utf-8", status=status)


BOT_WALLS = {
    "cloudflare": (
        403,
        bare(
            "Just a moment...",
            "<noscript>Enable JavaScript and cookies to continue</noscript>",
            head='<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8"></script>',
        ),
    ),
    "cloudflare as 200": (
        200,
        bare(
            "Just a moment...",
            '<div class="cf-chl-widget">Checking your browser before accessing foundry.example.</div>',
        ),
    ),
    "cloudflare block": (
        403,
        bare(
            "Attention Required! | Cloudflare",
            "<h1>Sorry, you have been blocked</h1><h2>You are unable to access foundry.example</h2><p>This "
            "website is using a "
            "security service to protect itself from online attacks. The action you just performed triggered "
            "the security "
            "solution.</p><p>Cloudflare Ray ID: 7f2a</p>",
        ),
    ),
    "cloudflare 1020": (
        403,
        bare("Access denied", '<h1>Error 1020</h1><p>Access denied</p><div id="cf-error-details"></div>'),
    ),
    "cloudflare 503": (
        503,
        bare(
            "Please Wait... | Cloudflare",
            "<p>Checking your browser before accessing the site. DDoS protection by Cloudflare</p>",
        ),
    ),
    "turnstile": (
        200,
        bare(
            "foundry.example",
            "<p>Verify you are human by completing the action below.</p><script "
            'src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>',
        ),
    ),
    "akamai": (
        403,
        bare(
            "Access Denied",
            '<h1>Access Denied</h1>You don\'t have permission to access "http://foundry.example/" on this '
            "server.<p>Reference&#32;#18.5e1d"
            "<p>https://errors.edgesuite.net/18.5e1d",
        ),
    ),
    "akamai challenge": (
        200,
        bare("", '<div id="sec-if-cpt-container"></div><script src="/_sec/cp_challenge/verify"></script>'),
    ),
    "datadome": (
        403,
        bare(
            "foundry.example",
            "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script "
            "src='https://ct.captcha-delivery.com/c.js'></script>",
        ),
    ),
    "datadome as 200": (
        200,
        bare(
            "foundry.example",
            "<script>var dd={'rt':'c'}</script><script "
            "src='https://geo.captcha-delivery.com/i.js'></script><p>Please enable JS</p>",
        ),
    ),
    "perimeterx": (
        403,
        bare(
            "Access to this page has been denied",
            '<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>',
        ),
    ),
    "perimeterx as 200": (
        200,
        bare(
            "Robot or human?",
            '<p>Activate and hold the button to confirm that you’re human. Thank You!</p><div id="px-captcha"></div>',
        ),
    ),
    "imperva": (
        200,
        bare(
            "",
            '<iframe src="/_Incapsula_Resource?SWUDNSAI=31"></iframe>Request unsuccessful. Incapsula incident ID: 444',
        ),
    ),
    "aws captcha": (
        405,
        bare("Human Verification", "<script>window.gokuProps = {}</script><h1>Let's confirm you are human</h1>"),
    ),
    "aws challenge": (
        202,
        bare(
            "",
            "<script src='https://x.token.awswaf.com/challenge.js'></script><script>AwsWafIntegration.getToken"
            "()</script>",
        ),
    ),
    "google sorry": (
        429,
        bare(
            "https://foundry.example/search",
            "<p>Our systems have detected unusual traffic from your computer network. This page checks to see "
            "if it's really you "
            'sending the requests, and not a robot.</p><div class="g-recaptcha"></div>',
        ),
    ),
    "anubis": (
        200,
        bare(
            "Making sure you're not a bot!",
            "<p>You are seeing this because the administrator of this website has set up Anubis.</p>",
        ),
    ),
    "vercel": (429, bare("Vercel Security Checkpoint", "<p>We're verifying your browser</p>")),
    "distil": (
        200,
        bare(
            "Pardon Our Interruption",
            "<h1>Pardon Our Interruption...</h1><p>As you were browsing, something about your browser made us "
            "think you were a bot. "
            "There are a few reasons this might happen:</p><ul><li>You're a power user moving through this "
            "website with super-human "
            "speed.</li><li>You've disabled JavaScript in your web browser.</li></ul>",
        ),
    ),
    "ddos guard": (403, bare("DDoS-Guard", "<h1>Checking your browser before accessing foundry.example</h1>")),
    "sucuri": (
        403,
        bare(
            "Sucuri WebSite Firewall - Access Denied",
            "<p>Access Denied - Sucuri Website Firewall</p><p>Block reason: bad bot</p>",
        ),
    ),
    "home made": (
        200,
        bare("Are you a robot?", "<p>Please confirm that you are not a robot.</p><form><input name=captcha></form>"),
    ),
    "captcha": (
        200,
        bare(
            "Security Check",
            "<p>To continue, please complete the security check below.</p><div class='h-captcha'></div>",
        ),
    ),
    "german": (
        200,
        bare(
            "Einen Moment bitte",
            "<p>Bitte bestätigen Sie, dass Sie kein Roboter sind.</p><div class='g-recaptcha'></div>",
        ),
    ),
    "french": (403, bare("Accès refusé", "<p>Veuillez confirmer que vous êtes un humain.</p>")),
    "japanese": (
        200,
        bare(
            "アクセス確認",
            "<p>続行するには、ロボットではないことを確認してください。</p><script "
            "src='https://www.google.com/recaptcha/api.js'></script>",
        ),
    ),
    "chinese": (200, bare("安全验证", "<p>请完成下方验证，确认您是真人。</p>")),
    "bare 403": (403, bare("403 Forbidden", "<center><h1>403 Forbidden</h1></center><hr><center>nginx</center>")),
}


@pytest.mark.parametrize("name", BOT_WALLS)
def test_a_bot_wall_is_blocked(name: str) -> None:
    """Whatever status it comes with."""
    status, markup = BOT_WALLS[name]
    assert read(markup, status=status).outcome is PageOutcome.BLOCKED


SOFT_404S = {
    "title": bare("Page not found | Foundry News", SITE + "<h1>Oops!</h1><p>We looked everywhere.</p>" + FOOT),
    "headline": bare(
        "Foundry News", SITE + "<h1>404 – Page Not Found</h1><p>Try the search, or go back to the home page.</p>" + FOOT
    ),
    "number": bare("404", "<h1>404</h1><p>Nothing here.</p>"),
    "error number": bare("Error 404", "<p>The requested URL was not found on this server.</p>"),
    "words": bare("Foundry News", "<main><p>Sorry, the page you are looking for could not be found.</p></main>"),
    "no longer": bare(
        "Foundry Shop",
        "<main><h1>This product is no longer available</h1><p>See what else we have in stock.</p></main>",
    ),
    "removed": bare("Foundry News", "<main><h1>This article has been removed</h1></main>"),
    "cannot find": bare("Foundry", "<h1>We can't find that page</h1><p>It may have moved.</p>"),
    "german": bare(
        "Seite nicht gefunden – Gießerei",
        "<h1>Seite nicht gefunden</h1><p>Die gewünschte Seite existiert nicht mehr.</p>",
    ),
    "with suggestions": bare(
        "Page not found - Foundry",
        "<h1>Page not found</h1><p>The page does not exist. Perhaps one of these will do:</p>"
        + "".join(
            f'<p><a href="/{n}">The bell of the {n}th tower and how it was cast in bronze</a></p>' for n in range(60)
        ),
    ),
    "german words": bare(
        "Gießerei", "<main><h1>Hoppla</h1><p>Die angeforderte Seite wurde leider nicht gefunden.</p></main>"
    ),
    "french": bare("Page introuvable", "<p>La page demandée n'existe pas ou plus.</p>"),
    "spanish": bare("Página no encontrada", "<p>Lo sentimos, no encontramos la página.</p>"),
    "italian": bare("Pagina non trovata", "<p>La pagina richiesta non esiste.</p>"),
    "portuguese": bare("Página não encontrada", "<p>Volte para o início.</p>"),
    "russian": bare("Страница не найдена", "<p>К сожалению, такой страницы нет.</p>"),
    "japanese": bare("ページが見つかりません", "<p>お探しのページは削除されたか、移動した可能性があります。</p>"),
    "chinese": bare("页面不存在", "<p>您访问的页面已被删除。</p>"),
    "korean": bare("오류", "<h1>페이지를 찾을 수 없습니다</h1>"),
    "arabic": bare("خطأ", "<h1>الصفحة غير موجودة</h1>"),
}


@pytest.mark.parametrize("name", SOFT_404S)
def test_a_page_that_says_that_there_is_none_is_a_soft_404(name: str) -> None:
    """Though its status says otherwise."""
    assert read(SOFT_404S[name]).outcome is PageOutcome.SOFT_404


LOGINS = {
    "form": bare("Sign in", "<h1>Sign in to Foundry</h1>" + LOGIN_FORM),
    "form alone": bare("Foundry", LOGIN_FORM),
    "title and site": bare(
        "Log in · Foundry", SITE + "<p>Welcome back. Please enter your details.</p>" + LOGIN_FORM + FOOT
    ),
    "words": bare(
        "Foundry forum", "<main><p>You must be logged in to view this topic.</p><a href='/login'>Log in</a></main>"
    ),
    "sso": bare(
        "Sign In | Foundry",
        "<form action='/sso'><input name=email><button>Next</button></form><p>Use your company account.</p>",
    ),
    "members": bare(
        "Foundry club",
        "<main><h1>Members only</h1><p>This content is available to registered members only. Please sign in to "
        "continue.</p></main>",
    ),
    "german": bare("Anmelden – Gießerei", "<h1>Anmelden</h1>" + LOGIN_FORM + "<a href='/x'>Passwort vergessen?</a>"),
    "french": bare("Connexion", LOGIN_FORM + "<a href='/x'>Mot de passe oublié ?</a>"),
    "spanish": bare("Iniciar sesión", LOGIN_FORM),
    "japanese": bare("ログイン", LOGIN_FORM + "<p>パスワードをお忘れの方</p>"),
    "chinese": bare("登录", "<p>请先登录</p>" + LOGIN_FORM),
    "russian": bare("Вход", LOGIN_FORM + "<a href='/x'>Забыли пароль?</a>"),
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_is_required_where_there_is_nothing_else(name: str) -> None:
    """It is never filled in."""
    assert read(LOGINS[name]).outcome is PageOutcome.LOGIN_REQUIRED


CONSENT_TEXT = (
    "<p>We and our 842 partners store and access information on your device, such as cookies, and process "
    "personal data for "
    "personalised ads and content.</p><p>You can change your choices at any time in our privacy policy. Some "
    "partners rely on "
    "legitimate interest.</p><button>Accept all</button><button>Reject all</button><button>Manage settings</button>"
)
CONSENTS = {
    "privacy": bare("We value your privacy", f"<div><h1>We value your privacy</h1>{CONSENT_TEXT}</div>"),
    "site's title": bare("Foundry News", f"<div>{CONSENT_TEXT}</div>"),
    "google": bare(
        "Before you continue",
        "<h1>Before you continue to Foundry</h1><p>We use cookies and data to deliver and maintain our services "
        "and to track outages."
        "</p><form><button>Accept all</button><button>Reject all</button></form>",
    ),
    "german": bare(
        "Bevor Sie fortfahren",
        "<p>Wir und unsere Partner verwenden Cookies. Mit Ihrer Einwilligung dürfen wir Daten für "
        "personalisierte Werbung nutzen.</p>"
        "<button>Alle akzeptieren</button><button>Ablehnen</button>",
    ),
    "german pay or ok": bare(
        "Gießerei Zeitung",
        "<h2>Weiter mit Werbung lesen</h2><p>Besuchen Sie uns wie gewohnt mit Werbung und Tracking. Die "
        "Zustimmung ist jederzeit über "
        "Datenschutz widerrufbar.</p><p>Details zu Cookies und Drittanbietern finden Sie in unserer "
        "Datenschutzerklärung.</p>"
        "<button>Akzeptieren und weiter</button>",
    ),
    "french": bare(
        "Avant de continuer",
        "<p>Nous et nos partenaires utilisons des cookies. Votre consentement est nécessaire.</p><button>Tout "
        "accepter</button><button>Refuser</button>",
    ),
}


@pytest.mark.parametrize("name", CONSENTS)
def test_a_page_that_only_asks_for_consent_is_a_consent_page(name: str) -> None:
    """It is never given."""
    assert read(CONSENTS[name]).outcome is PageOutcome.CONSENT_REQUIRED


def test_a_consent_page_is_known_by_its_host_too() -> None:
    """Where the site's own page sends everybody first."""
    markup = bare("Foundry", "<p>Cookies and consent.</p><form><button>Agree</button></form>")
    assert read(markup, url="https://consent.foundry.example/v2").outcome is PageOutcome.CONSENT_REQUIRED


SHELLS = {
    "react": bare(
        "Foundry",
        '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script '
        'src="/main.js"></script>',
    ),
    "vue": bare("Foundry", '<div id="app"></div><script src="/app.js"></script>'),
    "with a few words around": bare(
        "Foundry",
        "<header><h1>Foundry</h1></header><p>"
        + "The foundry casts bells for the towers of the city. " * 8
        + '</p><div id="root"></div><script src="/main.js"></script>',
    ),
    "next with spinner": bare(
        "Foundry", '<div id="__next"><div class="spinner"></div></div><script src="/n.js"></script>'
    ),
    "angular": bare("Foundry", '<app-root></app-root><script src="/runtime.js"></script>'),
    "loading": bare("Foundry", '<div class="boot">Loading...</div><script src="/boot.js"></script>'),
    "words": bare(
        "Foundry",
        "<p>This site requires JavaScript. Please enable JavaScript in your browser.</p><script "
        'src="/boot.js"></script>',
    ),
    "with a frame": bare("Foundry", SITE + '<div id="root"></div>' + FOOT + '<script src="/main.js"></script>'),
    "state": bare("Foundry", f'<div class="x"></div><script>window.state={"{" + "1" * 3000 + "}"}</script>'),
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_that_a_script_would_fill_needs_javascript(name: str) -> None:
    """A browser may be asked, where it is allowed."""
    assert read(SHELLS[name]).outcome is PageOutcome.NEEDS_JAVASCRIPT


TEASER = (
    "<p>Bells are cast in pits, and every founder keeps the alloy to himself.</p>"
    "<p>On Monday the old foundry opened its doors again.</p>"
)
PAYWALLS = {
    "marked": bare(
        "Bells of bronze",
        f'<article><h1>Bells of bronze</h1>{TEASER}<div class="paywall"><p>Subscribe to continue '
        f"reading.</p></div></article>",
    ),
    "schema": bare(
        "Bells of bronze",
        f"<article><h1>Bells of bronze</h1>{TEASER}</article>",
        head='<script type="application/ld+json">{"@type":"NewsArticle","headline":"Bells","isAccessibleForFree'
        '":"False"}</script>',
    ),
    "words": bare(
        "Bells",
        f"<article><h1>Bells</h1>{TEASER}<p>This article is for subscribers only. Already a subscriber? Log "
        f"in.</p></article>",
    ),
    "limit": bare(
        "Bells",
        f"<article><h1>Bells</h1>{TEASER}<p>You have reached your limit of free articles. Start your free "
        f"trial.</p></article>",
    ),
    "german": bare(
        "Glocken",
        f"<article><h1>Glocken</h1>{TEASER}<div class='paywall'><p>Jetzt weiterlesen mit dem Digital-Abo. Nur "
        f"für Abonnenten.</p></div></article>",
    ),
    "french": bare(
        "Cloches",
        f"<article><h1>Cloches</h1>{TEASER}<p>La suite est réservée aux abonnés. Déjà abonné ? Article réservé "
        f"aux abonnés.</p></article>",
    ),
    "japanese": bare(
        "鐘", f"<article><h1>鐘</h1>{TEASER}<p>この記事は有料会員限定です。続きを読むには登録が必要です。</p></article>"
    ),
    "status": bare("Payment required", TEASER),
}


@pytest.mark.parametrize("name", PAYWALLS)
def test_a_teaser_before_a_paywall_is_no_page(name: str) -> None:
    """What is said of the rest would be made up."""
    found = read(PAYWALLS[name], status=402 if name == "status" else 200)
    assert (found.outcome, found.reason) == (PageOutcome.LOGIN_REQUIRED, "paywall")


def test_a_long_text_before_a_paywall_is_a_page_that_is_cut() -> None:
    """It can be quoted as far as it goes."""
    markup = article("Bells of bronze", paragraphs=24).replace(
        "</article>", '<div class="paywall">Subscribe to continue reading.</div></article>'
    )
    found = read(markup)
    assert (found.outcome, found.reason) == (PageOutcome.OK, "truncated")
    assert found.page
    assert found.page.truncated


@pytest.mark.parametrize(
    ("end", "cut"),
    [
        ("The founder said that</p><a href='/full'>Read more</a></article></body></html>", True),
        ("The founder said that …</p></article></body></html>", True),
        ("The founder said that nobody", True),
        ("The founder said that nobody knew.</p></article></body></html>", False),
        ("The founder said that nobody knew.</p>", False),
    ],
)
def test_a_page_that_breaks_off_is_marked(end: str, *, cut: bool) -> None:
    """An answer that was cut on its way looks whole to a parser."""
    markup = article("Bells of bronze", paragraphs=6).partition("</article>")[0] + "<p>" + end
    found = read(markup)
    assert found.outcome is PageOutcome.OK
    assert (found.reason == "truncated", bool(found.page and found.page.truncated)) == (cut, cut)


EMPTIES = {
    "nothing": bare("Foundry", ""),
    "menu": bare("Foundry", "".join(f'<p><a href="/{n}">Item {n}</a></p>' for n in range(12))),
    "pictures": bare("Foundry", '<img src="/a.jpg"><img src="/b.jpg">'),
    "frames": '<html><head><title>x</title></head><frameset><frame src="/a.html"></frameset></html>',
    "parked": bare("foundry.example", "<h1>foundry.example</h1><p>This domain is for sale! Make an offer.</p>"),
    "hidden": bare("Foundry", '<p style="display:none">Only a model would read these words, and nobody else ever.</p>'),
}


@pytest.mark.parametrize("name", EMPTIES)
def test_a_page_without_text_is_empty(name: str) -> None:
    """And so no evidence."""
    assert read(EMPTIES[name]).outcome is PageOutcome.EMPTY


BANNER = f'<div class="cookie-banner" role="dialog">{CONSENT_TEXT}</div>'
PAGES = {
    "article": article("Bells of bronze"),
    "with a cookie banner": article("Bells of bronze", before=BANNER),
    "with a login in its head": article(
        "Bells of bronze", before=f"<header>{LOGIN_FORM}<a href='/x'>Forgot password?</a></header>"
    ),
    "with a captcha form": article(
        "Bells of bronze", after='<form><textarea></textarea><div class="g-recaptcha"></div></form>'
    ),
    "of a guarded site": article(
        "Bells of bronze",
        head='<script src="https://js.datadome.co/tags.js"></script><script '
        'src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
    ),
    "about bot walls": article(
        "How Cloudflare decides whether you are human", topic="The captcha asks you to verify that you are not a robot."
    ),
    "about 404s": article(
        "How to design a 404 page", topic="An error 404 says page not found, and a soft 404 only looks like one."
    ),
    "about logins": article(
        "Why you must be logged in to vote", topic="Forgot your password? Sign in to continue is what the sites say."
    ),
    "about cookies": article(
        "The best chocolate chip cookies",
        topic="Cookies want brown butter. Let the cookies cool, then accept all compliments.",
        before=BANNER,
    ),
    "about paywalls": article("Do paywalls work?", topic="Subscribers want to be asked to subscribe only once."),
    "about JavaScript": article(
        "What is JavaScript?",
        topic="You need to enable JavaScript to run this app is what React says.",
        after="<script src=/a.js></script>",
    ),
    "served by a framework": article("Bells of bronze")
    .replace("<article>", '<div id="__next"><article>')
    .replace("</article>", "</article></div><script src=/n.js></script>"),
    "a newsletter asks": article(
        "Bells of bronze",
        after="<aside class='newsletter'><p>Sign up for our newsletter. Subscribe to read more stories like "
        "this.</p></aside>",
    ),
    "short": bare(
        "Opening hours",
        "<main><h1>Opening hours</h1><p>The foundry is open from Tuesday to Saturday, ten to five. On Mondays "
        "it is closed.</p></main>",
    ),
    "an empty place": bare(
        "Foundry",
        "<main><p>"
        + "The foundry casts bells for the towers of the city. " * 8
        + '</p></main><div id="content"></div><script src="/main.js"></script>',
    ),
    "short contact": bare(
        "Contact",
        "<main><h1>Contact</h1><p>Write to us at the address below, or call between nine and noon on working "
        "days. We answer within two days.</p><form><div class='g-recaptcha'></div></form></main>",
    ),
    "an index": bare(
        "Archive",
        "".join(
            f'<p><a href="/{n}">The bell of the {n}th tower and how it was cast in bronze</a></p>' for n in range(30)
        ),
    ),
    "privacy policy": article(
        "Privacy policy",
        topic="We use cookies. You may consent to tracking by our partners, or reject all.",
        paragraphs=40,
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_a_page(name: str) -> None:
    """Walls' words alone make no wall."""
    found = read(PAGES[name])
    assert (found.outcome, found.reason) == (PageOutcome.OK, None)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, PageOutcome.NOT_FOUND),
        (410, PageOutcome.NOT_FOUND),
        (401, PageOutcome.LOGIN_REQUIRED),
        (403, PageOutcome.BLOCKED),
        (429, PageOutcome.RATE_LIMITED),
        (451, PageOutcome.BLOCKED),
        (500, PageOutcome.UNAVAILABLE),
        (503, PageOutcome.UNAVAILABLE),
    ],
)
def test_an_error_stays_one_whatever_its_page_says(status: int, outcome: PageOutcome) -> None:
    """Not found before login before limits before blocked (a 404 is not masked as a bot wall)."""
    assert read(article("Bells of bronze"), status=status).outcome is outcome
    assert read('{"error": "no"}', status=status).outcome is outcome


@pytest.mark.parametrize(
    "markup",
    [
        bare(
            "Site maintenance", "<h1>We’ll be back soon!</h1><p>We are performing some maintenance at the moment.</p>"
        ),
        bare(
            "Gießerei", "<h1>Wartungsarbeiten</h1><p>Wir sind gleich wieder da, bitte haben Sie ein wenig Geduld.</p>"
        ),
    ],
)
def test_a_site_that_is_being_mended_is_unavailable(markup: str) -> None:
    """Whatever its status is; an article about maintenance is one."""
    found = read(markup)
    assert (found.outcome, found.reason) == (PageOutcome.UNAVAILABLE, "maintenance")
    assert read(article("Maintenance of bells")).outcome is PageOutcome.OK


def test_a_forbidden_page_that_asks_for_a_password_is_a_login() -> None:
    """Which is another thing to do about it."""
    assert read(LOGINS["form"], status=403).outcome is PageOutcome.LOGIN_REQUIRED


def test_a_rate_limit_with_a_wall_in_it_is_a_wall() -> None:
    """Waiting does not help there."""
    assert read(BOT_WALLS["google sorry"][1], status=429).outcome is PageOutcome.BLOCKED
    assert read(bare("Too Many Requests", "<p>Slow down.</p>"), status=429).outcome is PageOutcome.RATE_LIMITED


def test_each_step_says_how_it_went() -> None:
    """The last one has what the page turned out to be."""
    steps = read(SHELLS["react"]).steps
    assert [step.name for step in steps] == ["trafilatura", "readability", "text"]
    assert steps[0].reason == "too_little_text"
    assert steps[-1].outcome is PageOutcome.NEEDS_JAVASCRIPT
    assert ARTICLE_TEXT
