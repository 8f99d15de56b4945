"""What a site says in the place of a page that it has not, or cannot give: not found, out of order, cookies wanted.

Sentences of the large systems in the languages of the large sites. They count in titles, headlines and on pages that
say little else (`verdicts`); a page that explains such a sentence is one.
"""

import re

_I = re.IGNORECASE

NOT_FOUND = re.compile(
    r"(?:^|[\W_])(?:(?:error|fehler|erreur|errore|erro|fout|błąd|ошибка|エラー|http|oops!?)[\s:-]*(?:404|410)\b"
    r"|(?:404|410)[\s:|–—-]+(?:error|not found|page\b|file|seite|fehler|страница|ページ|页面|erreur|erro\b"
    r"|página|pagina|strona|nicht)"
    r"|(?:page|site|file|document|article|post|content|url|product|topic|item|resource)"
    r"(?: (?:that )?you(?:'re| are| were|'ve)? [^.]{0,40})? (?:(?:was |is |could |can |may )?(?:not|n't|no longer"
    r"|cannot be|can't be)(?: be)? "
    r"(?:found|available|exist|located)|doesn'?t (?:seem to )?exist|does not (?:seem to )?exist|couldn'?t be found"
    r"|isn'?t (?:available|here)|not found"
    r"|unavailable|(?:has|may have|might have) been (?:removed|deleted|moved)|has moved|is gone)"
    r"|(?:can'?t|cannot|couldn'?t|could not|unable to)(?: seem to)? (?:find|locate) (?:that|the|this|what|your)"
    r" ?(?:page|file|url|content|you)?"
    r"|not found$|^not found|nothing (?:was )?found|no longer (?:available|exists)|no such (?:page|file|article)"
    r"|(?:seite|artikel|inhalt|dokument|beitrag)[^.]{0,40}(?:nicht (?:gefunden|verfügbar|vorhanden|mehr|finden)"
    r"|existiert (?:leider )?nicht|gibt es (?:leider )?nicht)"
    r"|nicht gefunden"
    r"|page (?:est )?(?:introuvable|non trouvée|inexistante)|n'existe (?:pas|plus)|introuvable"
    r"|page (?:que vous \w+|demandée|recherchée)[^.]{0,40}(?:a été (?:supprimée|déplacée)|n'est (?:pas|plus))"
    r"|(?:impossible de|ne (?:parvenons pas à|pouvons pas)) trouver (?:la|cette|votre) page"
    r"|página (?:que [^.]{0,40}|solicitada )?(?:ya )?no (?:fue |ha sido )?(?:encontrada|existe|disponible|se encuentra"
    r"|está disponible)"
    r"|no (?:se )?(?:ha )?(?:encontr(?:ada|ado|ó|amos)|(?:podemos|pudimos|hemos podido) encontrar)|página inexistente"
    r"|página (?:que [^.]{0,40}|solicitada |pretendida )?(?:já )?não (?:foi )?(?:encontrada|existe|está disponível)"
    r"|não (?:encontrad[ao]|(?:conseguimos|foi possível|pudemos) encontrar)"
    r"|pagina (?:che [^.]{0,40}|richiesta |cercata )?(?:non (?:è (?:stata )?)?(?:trovata|esiste|disponibile)"
    r"|inesistente)"
    r"|non (?:è stata )?trovata|non (?:riusciamo|siamo riusciti) a trovare"
    r"|pagina (?:die [^.]{0,40})?(?:(?:is |werd |kon )?(?:helaas )?niet (?:worden )?(?:gevonden|beschikbaar)"
    r"|bestaat (?:helaas )?niet)"
    r"|niet gevonden|kunnen (?:de|deze) pagina niet vinden"
    r"|stron[aęy],? (?:[^.]{0,40} )?nie (?:istnieje|została znaleziona|może zostać znaleziona)"
    r"|nie (?:znaleziono|(?:możemy|udało się|można) (?:odnaleźć|znaleźć)) (?:tej |podanej |żądanej )?stron"
    r"|nie znaleziono"
    r"|sidan (?:kunde inte hittas|hittades inte|finns inte)|siden (?:findes|finnes) ikke"
    r"|stránka nenalezena|страница[^.]{0,40} не (?:найдена|существует)|не найдена?\b"
    r"|сторінку не знайдено|sayfa bulunamadı"
    r"|الصفحة (?:غير موجودة|المطلوبة (?:غير|لم)|التي [^.]{0,40}(?:غير موجودة|غير متوفرة|لم تعد))"
    r"|لم (?:يتم العثور|نتمكن من العثور)|تعذر العثور|هذه الصفحة غير موجودة"
    r"|הדף לא נמצא|पृष्ठ नहीं मिला|trang không tồn tại|không tìm thấy trang|halaman tidak ditemukan)"
    r"|ページ(?:が|は)(?:見つかり|存在しません|ありません|削除され|移動した)|お探しのページ|見つかりませんでした"
    r"|ページを表示できません"
    r"|页面(?:不存在|未找到|找不到|没有找到|已被删除)|找不到(?:该|此|您)?(?:页面|网页|頁面)|頁面不存在"
    r"|페이지를 찾을 수 없|존재하지 않는 페이지"
    r"|(?:^|[:|–—»-] ?)404\W*$|^404\W{1,4}(?:oops|sorry|ups|we |you|lost|nothing)",
    _I,
)
OUT_OF_ORDER = re.compile(
    r"^\W{0,6}(?:(?:wordpress|mysql|sql|http|php|server|oops!?|error|sorry,?)\W{1,3})?"
    r"(?:(?:error|failure) (?:establishing|connecting to) (?:a |the )?database|database (?:connection )?error\b"
    r"|(?:unable|could not|cannot|can'?t|failed) (?:to )?connect to (?:the )?(?:database|mysql|db)"
    r"|(?:mysql|database) server has gone away|too many connections|sqlstate\["
    r"|(?:500|502|503|504|52[0-7])\W{0,4}(?:\||internal|bad|service|gateway|server|error|web server|origin|connection)"
    r"|error (?:500|502|503|504|52[0-7])\b"
    r"|internal server error|server error \(?50[0-4]|bad gateway|gateway time-?out|service (?:temporarily )?unavailable"
    r"|there has been a critical error on this website|(?:php )?fatal error:|parse error: syntax error"
    r"|application error: a (?:client|server)-side exception|application error\W*$|whitelabel error page"
    r"|server error in '/|(?:bandwidth|resource) limit (?:exceeded|is reached)|account suspended"
    r"|no available server|upstream (?:connect error|request timeout)|backend fetch failed|guru meditation"
    r"|there was a problem providing the content you requested"
    r"|(?:interner )?serverfehler\b|datenbankfehler|fehler beim (?:aufbau|herstellen) (?:der|einer) datenbank"
    r"|(?:keine )?verbindung zur datenbank (?:fehlgeschlagen|konnte|nicht)|dienst (?:derzeit )?nicht verfügbar"
    r"|erreur (?:lors de|de) (?:la )?connexion à la base de données|erreur interne (?:du|de) serveur"
    r"|service (?:temporairement )?indisponible"
    r"|error al (?:establecer|conectar)[^.]{0,30} base de datos|error (?:interno )?del servidor"
    r"|servicio (?:temporalmente )?no disponible"
    r"|errore (?:nello|durante)[^.]{0,40}database|errore (?:interno )?del server|servizio (?:temporaneamente )?non disp"
    r"|erro (?:ao|na)[^.]{0,40}(?:banco|base) de dados|erro interno d[eo] servidor|serviço (?:temporariamente )?indisp"
    r"|(?:er is een )?fout (?:bij|tijdens) het[^.]{0,40}database|interne serverfout|service (?:tijdelijk )?niet besch"
    r"|błąd (?:podczas |przy )?(?:nawiązywania |łączenia |połączenia )[^.]{0,30}baz|(?:wewnętrzny )?błąd serwera"
    r"|usługa (?:jest )?(?:tymczasowo |chwilowo )?niedostępna"
    r"|ошибка (?:установки|подключения|соединения)[^.]{0,30}баз|внутренняя ошибка сервера|сервис временно недоступен"
    r"|データベース接続確立エラー|データベースに接続できません|内部サーバーエラー|サービスを一時的に利用できません"
    r"|建立数据库连接时出错|数据库连接(?:错误|失败)|服务器内部错误|데이터베이스 연결|내부 서버 오류"
    r"|خطأ (?:في|أثناء) (?:ال)?اتصال بقاعدة البيانات|خطأ داخلي في الخادم|الخدمة غير متاحة)",
    _I | re.MULTILINE,
)
"""Only where a line begins: a text that quotes it goes on before."""
WENT_WRONG = re.compile(
    r"^\W{0,6}(?:(?:oops|whoops|sorry|uh[- ]oh|ups|hoppla|désolé|lo sentimos|ops)\W{1,3})?"
    r"(?:(?:looks like )?something(?:'s| has)? (?:went|gone|is) wrong"
    r"|an? (?:unexpected |unknown |internal )?error (?:has )?occurred"
    r"|es ist ein (?:unerwarteter |interner |technischer )?fehler aufgetreten|(?:da|hier) ist etwas schiefgelaufen"
    r"|etwas ist schiefgelaufen|une erreur (?:\w+ )?(?:est survenue|s'est produite)"
    r"|(?:se ha producido|ha ocurrido) un error|algo (?:salió mal|ha ido mal|deu errado|correu mal)"
    r"|si è verificato un errore|qualcosa è andato storto|ocorreu um erro|er is (?:een fout opgetreden|iets misgegaan)"
    r"|wystąpił (?:nieoczekiwany )?błąd|coś poszło nie tak|произошла ошибка|(?:予期しない)?エラーが発生しました"
    r"|出错了|발생했습니다|حدث خطأ)",
    _I | re.MULTILINE,
)
"""Said by stories, too: it counts where there is next to nothing else."""
WANTS_COOKIES = re.compile(
    r"^\W{0,6}(?:cookies (?:turned off|(?:are )?disabled|(?:are )?required|not enabled)\W*$"
    r"|cookies (?:sind )?deaktiviert|cookies désactivés|cookies (?:desactivadas|disattivati|desativados))"
    r"|browser is (?:currently )?set to (?:refuse|reject|block) cookies|browser does not accept cookies",
    _I | re.MULTILINE,
)
"""Before every page of a site, to whoever brings none."""
