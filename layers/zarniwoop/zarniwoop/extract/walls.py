"""What stands before a page: the words and marks of bot walls, logins, consents, paywalls, empty shells.

Marks are names that the walls' own code carries (scripts, cookies, forms); words are what they tell people, in the
languages of the large sites. Words count in titles, headlines and on pages that say little else: an article about
captchas is an article.
"""

import re

_I = re.IGNORECASE

BOT_MARKS = re.compile(
    r"cdn-cgi/challenge-platform/h/|/cdn-cgi/l/chk|cf[-_]chl[-_]|cf-browser-verification|cf-error-details"
    r"|cf_captcha_kind"
    r"|captcha-delivery\.com|px-captcha|human-challenge|/_sec/cp_challenge|sec-if-cpt-container|bm-verify"
    r"|errors\.edgesuite\.net|akamai-?(?:block|denied)|_incapsula_resource|incapsula incident|distil_r_captcha"
    r"|awswafcaptcha|awswafintegration|gokuprops|sucuri website firewall|sucuri_cloudproxy|ddos-guard|/sorry/index"
    r"|anubis_challenge|within\.website/x/cmd/anubis|vercel security checkpoint|shieldsquare|/149e9513-01fa-4fb0",
    _I,
)
"""Only where a wall stands."""
BOT_HINTS = re.compile(
    r"datadome|_pxappid|_pxhd|perimeterx|ak_bmsc|imperva|visid_incap|aws-waf-token|kpsdk|reese84|recaptcha|hcaptcha"
    r"|h-captcha|challenges\.cloudflare\.com|cf-turnstile|challenge-platform|geetest|friendly-?captcha|arkoselabs"
    r"|funcaptcha|wordfence|radware|botmanager|mtcaptcha|altcha-widget|cloudflare|captcha",
    _I,
)
"""On ordinary pages of guarded sites, too, and beside their forms."""
BOT_TITLE = re.compile(
    r"^(?:just a moment|attention required|access (?:to this page has been )?denied|pardon our interruption"
    r"|(?:are you|you are|i am|i'm) (?:not )?an? (?:human|robot|bot)|robot check|robot or human|bot (?:check|detection"
    r"|verification)|security check(?:point)?|human verification|verify (?:that )?you(?:'re| are) (?:a )?human|captcha"
    r"|ddos[- ]guard|ddos protection|checking your browser|please wait|one moment,? please|you have been blocked"
    r"|blocked"
    r"|request (?:blocked|rejected|unsuccessful)|forbidden|403|error 1020|sorry,? you have been blocked"
    r"|unusual traffic"
    r"|making sure you'?re not a bot|client challenge|challenge validation|vercel security checkpoint"
    r"|bitte warten|einen moment|sicherheitsüberprüfung|zugriff verweigert|un instant|accès refusé"
    r"|vérification de sécurité"
    r"|un momento|acceso denegado|verificación de seguridad|доступ (?:запрещ|огранич)|проверка безопасности"
    r"|しばらくお待ち"
    r"|アクセスが拒否|请稍候|安全验证|人机验证|访问被拒绝|访问验证|잠시만 기다|accesso negato|toegang geweigerd)",
    _I,
)
SURE_BOT_TITLE = re.compile(
    r"^(?:just a moment\.\.\.|pardon our interruption|access to this page has been denied|robot or human|robot check"
    r"|vercel security checkpoint|making sure you'?re not a bot|ddos-guard|are you a (?:human|robot)"
    r"|human verification"
    r"|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human|安全验证|人机验证)",
    _I,
)
"""Nobody calls a page of their own so."""
BOT_WORDS = re.compile(
    r"(?:verify|confirm|prove|check(?:ing)?)(?: that| if)? (?:you(?:'re|r| are)?|the site connection|your browser)"
    r"[^.]{0,40}(?:human|robot|bot|secure)|checking your browser before"
    r"|needs to review the security of your connection"
    r"|unusual (?:traffic|activity) from your|automated (?:access|requests|queries|traffic|tools)|not a robot"
    r"|enable javascript and cookies to continue|please enable cookies|ray id|reference ?#|incident id"
    r"|you don'?t have permission to access|your (?:access|request|ip(?: address)?) (?:has been|was|is) "
    r"(?:blocked|denied|flagged|limited|rejected)|something about your browser made us think you (?:were|are) a bot"
    r"|press (?:&|and) hold|complete the (?:security check|captcha|challenge)|solve the (?:captcha|puzzle)"
    r"|made us think (?:that )?you|bot protection|protected by (?:datadome|cloudflare|imperva|perimeterx|akamai"
    r"|anubis)"
    r"|dass sie (?:ein mensch|kein roboter) sind|ungewöhnlichen (?:datenverkehr|zugriff)"
    r"|automatisierte (?:anfragen|zugriffe)"
    r"|vous n'êtes pas un robot|vous êtes (?:un )?humain|trafic inhabituel|no (?:es|eres) un robot|eres humano"
    r"|tráfico inusual"
    r"|вы не робот|необычн\w+ трафик|ロボットではない|ロボットでない"
    r"|通常と異なるトラフィック|人間であること|您不是机器人|确认您是真人|异常流量"
    r"|로봇이 아닙니다|لست روبوت|أنك إنسان|non sei un robot|não é um robô|geen robot",
    _I,
)
LOGIN_TITLE = re.compile(
    r"^(?:please )?(?:sign[- ]?in|log[- ]?in|login|sign on|member login|authentication required|unauthorized"
    r"|anmelden|anmeldung"
    r"|einloggen|bitte (?:melden|loggen)|connexion|se connecter|identifiez-vous|iniciar sesi[oó]n"
    r"|inicia sesi[oó]n|acceder"
    r"|accedi|entrar|fazer login|inloggen|logga in|log ind|logg inn|kirjaudu|zaloguj|logowanie|přihlášení|вход|войти"
    r"|увійти|giriş|ログイン|サインイン|登录|登錄|登入|로그인|تسجيل الدخول|התחברות|đăng nhập)(?:\b|$|\W)"
    r"|(?:sign|log) ?in (?:to|or|·|\|)|[|–—-] ?(?:log ?in|sign ?in|anmelden|login|connexion)$",
    _I,
)
LOGIN_WORDS = re.compile(
    r"(?:you )?(?:must|need to|have to|should|please) (?:be )?(?:sign(?:ed)? in|log(?:ged)? in|login|register(?:ed)?)"
    r"|(?:sign|log) in (?:to|or register to) (?:continue|view|see|read|access)|login required|requires? (?:a )?login"
    r"|(?:only|available (?:only )?to) (?:registered|logged[- ]in) (?:users|members)|members only"
    r"|create an account to (?:continue|view|read)"
    r"|you are not (?:logged|signed) in|session (?:has )?expired|forgot (?:your )?password|remember me"
    r"|keep me signed in"
    r"|bitte (?:melden sie sich an|loggen sie sich ein|anmelden)|sie müssen (?:sich anmelden|angemeldet sein"
    r"|eingeloggt sein)"
    r"|passwort vergessen|angemeldet bleiben|mot de passe oublié|veuillez vous (?:connecter|identifier)"
    r"|connectez-vous pour"
    r"|(?:has|ha) olvidado (?:tu|su) contraseña|inicia sesión para|debe iniciar sesión|esqueceu (?:a|sua) senha"
    r"|password dimenticata|accedi per|wachtwoord vergeten|забыли пароль|войдите, чтобы|необходимо войти|авторизуйтесь"
    r"|パスワードを(?:お)?忘れ|ログインしてください|ログインが必要|忘记密码|请(?:先)?登录|登录后"
    r"|비밀번호 찾기|로그인이 필요|نسيت كلمة|يجب تسجيل",
    _I,
)
LOGIN_STRICTLY = re.compile(
    r"\b(?:must|need to|have to|required to) (?:be )?(?:sign|log)(?:ged|ed)? ?in|(?:sign|log) in to (?:continue"
    r"|view|see|read)"
    r"|login required|members only|only (?:registered|logged)|melden sie sich (?:bitte )?an|sie müssen sich"
    r"|connectez-vous pour"
    r"|inicia sesión para|войдите, чтобы|ログインしてください|ログインが必要|请先?登录|로그인이 필요|يجب تسجيل",
    _I,
)
TAKES_PART = re.compile(
    r"\W{0,3}(?:anmelden|einloggen|angemeldet sein)?,? ?(?:in order )?(?:to|um|einen|a|the|your|para|pour|чтобы)? ?"
    r"(?:einen |eine |un |una |ein |ihren |deinen |votre |le |la |tu |a |the |your )?"
    r"(?:(?:reviews?|ratings?|comments?|repl(?:y|ies)) |post|leave|write|add|submit|reply|comment|vote|rate\b|like\b"
    r"|follow|save|bookmark|subscribe|kommentar|zu kommentieren|commenter|laisser|poster|comentar|dejar|publicar"
    r"|оставить|комментировать|написать)",
    _I,
)
"""What follows where a login is for those who want to say something: everybody may read."""
LOGIN_WITH = re.compile(
    r"\b(?:continue|sign in|log in|login|sign up) (?:with|using|via) (?:your )?(?:google|apple|facebook|microsoft"
    r"|github|gitlab|sso|single sign|saml|orcid|okta|linkedin|email|passkey|institution)",
    _I,
)
LOGIN_ACTION = re.compile(
    r"log-?_?in|log-?on|sign-?_?in|sign-?on|\bsso\b|\bauth(?:enticate|entication|ori[sz]e)?\b|oauth|saml|openid|identif|/sessions?\b|connexion|anmeld"
    r"|einlogg|acceder|iniciar|entrar|accedi|inlogg|zaloguj|logowanie",
    _I,
)
"""Where a form of its kind is sent to, or what it is called."""
CONSENT_TITLE = re.compile(
    r"^(?:before you (?:continue|go)|your privacy|we (?:value|care about|respect) your privacy"
    r"|privacy (?:settings|preferences|choices)"
    r"|cookie(?:s)? (?:consent|settings|preferences|notice|policy|einstellungen|-einstellungen)|cookie-?consent"
    r"|consent"
    r"|cookies?$|manage (?:your )?(?:cookies|consent)|bevor (?:sie|du) (?:fortfahren|weitermachst|zu )|(?:ihre"
    r"|deine) privatsphäre"
    r"|privatsphäre|datenschutz-?einstellungen|einwilligung|zustimmung|wir (?:schätzen|respektieren) ihre"
    r"|avant d(?:e continuer|'accéder)"
    r"|(?:votre|respect de la|paramètres de) (?:vie privée|confidentialité)|antes de (?:continuar|ir)|(?:tu"
    r"|su) privacidad"
    r"|voordat je verdergaat|prima di continuare|la tua privacy|同意|cookie の|個人情報|прежде чем"
    r"|ваша конфиденциальность)",
    _I,
)
CONSENT_WORDS = re.compile(
    r"cookies?\b|consent|our (?:\d+ )?partners|tracking|personali[sz]ed (?:ads|advertising|content)|accept all"
    r"|reject all"
    r"|legitimate interest|gdpr|privacy policy|einwilligung|zustimm|akzeptieren|ablehnen|datenschutz|werbung"
    r"|drittanbieter"
    r"|accepter|refuser|partenaires|confidentialité|aceptar|rechazar|privacidad|accetta|rifiuta|toestemming|akkoord"
    r"|クッキー|同意|接受|隐私|согласие|принять|파일 쿠키|쿠키|ملفات تعريف الارتباط",
    _I,
)
CONSENT_ASKS = re.compile(
    r"accept(?: all| cookies| & continue| and continue)?\b|agree(?: and| to| &)?\b|i agree|allow all|consent to"
    r"|alle akzeptieren"
    r"|akzeptieren|zustimmen|einverstanden|tout accepter|accepter|j'accepte|aceptar(?: todo)?|acepto"
    r"|accetta(?: tutto)?"
    r"|accepteren|akkoord|aceitar|godkänn|accepter alle|同意する|すべて(?:許可|同意|受け入れ)|全部接受"
    r"|接受所有|принять|согласен|동의"
    r"|모두 수락|قبول|موافق",
    _I,
)
CONSENT_HOST = re.compile(r"^(?:consent|cookie-?consent|cmp|privacy|guce|myprivacy|zustimmung)\.", _I)
ANY_ROOT = re.compile(r"\bid=[\"']?(?:content|main|application|mount)\b", _I)
"""Of pages that are no applications, too."""
PAYWALL_MARKS = re.compile(
    r"class=[\"'][^\"']{0,200}\b(?:paywall|piano-(?:offer|template)|tp-modal|meteredcontent|regwall|subscriber-only"
    r"|subscription-required|premium-(?:wall|barrier)|article-?gate|gated-content)\b|tinypass\.com|poool\.fr"
    r"|data-paywall",
    _I,
)
PAYWALL_WORDS = re.compile(
    r"(?:subscribe|sign up|become a (?:member|subscriber)|register|log in|join)[^.]{0,60}(?:to (?:continue|keep"
    r"|finish|read|"
    r"unlock|access)|for (?:full|unlimited) access)|(?:continue|keep) reading (?:with|by) (?:a )?(?:subscri|sign|free)"
    r"|(?:this|the) (?:article|content|story|post) is (?:for|only (?:for|available)|available (?:only )?(?:to"
    r"|for)|reserved for|exclusive to)"
    r"[^.]{0,20}(?:subscriber|member|paid|premium)|already a (?:subscriber|member)|subscriber[s']{0,2}[- ]only"
    r"|(?:paid|premium) subscribers"
    r"|you(?:'ve| have) (?:reached|read|used)[^.]{0,40}(?:free articles?|limit)|(?:unlock|get) (?:this|full"
    r"|unlimited) (?:article|access|digital)"
    r"|to read (?:the (?:full|rest|whole)|this|more)[^.]{0,40}(?:subscri|member|account)"
    r"|start your (?:free )?(?:trial|subscription)"
    r"|jetzt (?:weiterlesen|abonnieren|testen)|(?:weiterlesen|lesen sie) mit [^.]{0,30}(?:abo|plus|\+)"
    r"|nur für abonnenten|(?:dieser|der) artikel ist (?:kostenpflichtig"
    r"|nur|exklusiv)|bereits abonnent|mit (?:einem )?(?:abo|probeabo)|zugang zu allen (?:artikeln|inhalten)"
    r"|(?:article|contenu|suite) (?:est )?réservé|réservé aux abonnés|déjà abonné|abonnez-vous"
    r"|il vous reste [^.]{0,20}(?:article|%)"
    r"|(?:suscríbete|suscríbase) para|(?:contenido|artículo) (?:exclusivo|solo) para suscriptores"
    r"|ya eres suscriptor|riservato agli abbonati"
    r"|abbonati per|exclusivo para assinantes|alleen voor abonnees|только (?:для|по) подпис|оформите подписку"
    r"|会員限定|有料会員|続きを読むには|この記事は有料"
    r"|订阅(?:后|以)(?:继续)?阅读|仅限(?:会员|订阅)|구독자 전용|للمشتركين فقط",
    _I,
)
SCRIPT_WORDS = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|allow|use) (?:your )?java ?script|java ?script (?:is"
    r"|to be|must be|has been|needs)"
    r"[^.]{0,30}(?:enabled|disabled|required|turned|not|activ)|doesn'?t work (?:properly )?without javascript"
    r"|you need to enable javascript"
    r"|javascript (?:aktivieren|muss|ist)|aktivieren sie (?:bitte )?javascript|activer javascript"
    r"|javascript (?:est|doit)|habilit[ae] javascript"
    r"|active javascript|javascript (?:を|が)|启用 ?javascript|включите javascript|loading\W*$|^\W*(?:loading"
    r"|please wait|wird geladen|chargement"
    r"|cargando|読み込み中|加载中|загрузка)\W*$",
    _I,
)
EMPTY_ROOT = re.compile(
    r"<(?:div|main|section)[^>]{0,120}\bid=[\"']?(?:root|app|__next|__nuxt|___gatsby|svelte|ember-?app|application"
    r"|app-root|react-root|main-app|mount|q-app|content|main)[\"']?[^>]{0,120}>(?:\s|<!--[^>]{0,200}-->"
    r"|<(?:div|span|i|svg|p)[^>]{0,200}>|loading[.… ]{0,5}|</(?:div|span|i|svg|p)>){0,20}</(?:div|main|section)>"
    r"|<app-root[^>]{0,200}>\s{0,20}</app-root>",
    _I,
)
GOES_ON = re.compile(
    r"(?:read (?:the )?(?:more|full|rest|whole)[^.\n]{0,40}|continue reading[^.\n]{0,40}|(?:show|view"
    r"|load) (?:more|full)[^.\n]{0,30}|weiterlesen"
    r"|mehr (?:lesen|anzeigen)|lire la suite|leer más|seguir leyendo|続きを読む|阅读全文|展开全文"
    r"|читать (?:далее|полностью)"
    r"|더 보기|اقرأ المزيد)"
    r"[\s»›→….)\]]*$",
    _I,
)
IDENTIFYING_PATH = re.compile(
    r"/(?:log-?in|sign-?in|signon|auth(?:enticate)?|sso|accounts?/login|session/new|oauth2?)(?:[/?.]|$)", _I
)
BLOCKED_PATH = re.compile(
    r"/(?:captcha|challenge|blocked|botcheck|sorry/index|validate-?human|px/captcha|_incapsula_)", _I
)
PARKED = re.compile(
    r"(?:this|the) domain(?: name)? (?:[\w.-]{1,80} )?(?:is|may be|has been) (?:for sale|parked"
    r"|available for purchase)"
    r"|buy this domain|domain (?:is )?parked|diese domain (?:steht|ist)[^.]{0,30}(?:verkauf|geparkt)"
    r"|domain zu verkaufen"
    r"|ce (?:nom de )?domaine est (?:à vendre|parqué)|este dominio (?:está )?(?:en|a la) venta|dominio in vendita"
    r"|этот домен прода[её]тся|домен припаркован|このドメインは[^。]{0,20}(?:販売|売り)|(?:此"
    r"|该)域名[^。]{0,10}(?:出售|转让)",
    _I,
)
MAINTENANCE_TITLE = re.compile(
    r"maintenance|be (?:right )?back|(?:temporarily|currently) (?:down|offline|unavailable)|wartung|gleich wieder da"
    r"|mantenimiento|manutenzione|технические работы|обслуживани|メンテナンス|维护|維護|점검|صيانة",
    _I,
)
MAINTENANCE_WORDS = re.compile(
    r"(?:performing|undergoing|down for|under|carrying out)(?: \w+){0,3} (?:maintenance|upgrades?)"
    r"|be back (?:up |online )?"
    r"(?:soon|shortly|in a|at \d)|(?:temporarily|currently) (?:down|offline|unavailable)|(?:wird"
    r"|werden) (?:gerade|derzeit"
    r"|zurzeit|momentan)[^.]{0,40}gewartet|wartungsarbeiten|(?:gleich|bald|in kürze) wieder (?:da|für sie|erreichbar)"
    r"|maintenance en cours|de retour (?:bientôt|dans)|(?:en|por) mantenimiento|volveremos|in manutenzione"
    r"|технические работы|ведутся работы|メンテナンス中|(?:正在|系统|網站|网站)[^。]{0,6}(?:维护|維護)|점검 중"
    r"|قيد الصيانة",
    _I,
)
"""Beside a title that says so."""
