"""Pages that show nothing without scripts, and one whose scripts try every way out to a canary, which counts."""

from tests.fakes.web import PARAGRAPH

SENTENCE = PARAGRAPH.removeprefix(b"<p>").removesuffix(b"</p>")
_SHELL = (
    b"<!doctype html><html><head><title>Bells</title>%s</head><body><div id=root></div>"
    b"<noscript>You need to enable JavaScript to run this app.</noscript>%s</body></html>"
)


def shell(script: bytes = b"", *, head: bytes = b"", after: bytes = b"") -> bytes:
    """A page whose text comes by a script; with a script of the test's own beside it."""
    return _SHELL % (head, b"<script src=/app.js></script><script>%s</script>%s" % (script, after))


APP = (
    b"fetch('/text.json').then(answer => answer.json()).then(text => {"
    b" const article = document.createElement('article');"
    b" article.innerHTML = '<h1>Bells</h1>' + ('<p>' + text.text + '</p>').repeat(6);"
    b" document.getElementById('root').append(article); });"
)
TEXT = b'{"text": "%s"}' % SENTENCE


def breakout(port: int) -> bytes:
    """A script that tries to reach a server on loopback by whatever a browser has, and each one in peace."""
    home = b"127.0.0.1:%d" % port
    return b"""
    const tries = [
      () => fetch('http://HOME/fetch', {mode: 'no-cors'}),
      () => fetch('http://localhost:PORT/fetch', {mode: 'no-cors'}),
      () => fetch('http://[::1]:PORT/fetch', {mode: 'no-cors'}),
      () => fetch('http://127.0.0.1:8080/', {mode: 'no-cors'}),
      () => fetch('http://169.254.169.254/latest/meta-data/', {mode: 'no-cors'}),
      () => fetch('http://inside.bells.com/', {mode: 'no-cors'}),
      () => fetch('/to-loopback'),
      () => fetch('/post', {method: 'POST', body: 'x'}),
      () => fetch('file:///etc/passwd'),
      () => navigator.sendBeacon('http://HOME/beacon', 'x'),
      () => new WebSocket('ws://HOME/socket'),
      () => new WebSocket('ws://www.bells.com/socket'),
      () => new EventSource('http://HOME/events'),
      () => { const x = new XMLHttpRequest(); x.open('GET', 'http://HOME/xhr', false); x.send(); },
      () => navigator.serviceWorker.register('/worker.js'),
      () => new Worker('/worker.js'),
      () => new Worker(URL.createObjectURL(new Blob(["fetch('http://HOME/w'); new WebSocket('ws://HOME/w')"]))),
      () => new SharedWorker('/worker.js'),
      () => window.open('http://HOME/window'),
      () => window.open('http://www.bells.com/window'),
      () => { const a = document.createElement('a'); a.href = 'http://HOME/file'; a.download = 'x'; a.click(); },
      () => { const a = document.createElement('a'); a.href = '/file.bin'; a.click(); },
      () => { const f = document.createElement('form'); f.action = 'http://HOME/form'; f.method = 'post';
              document.body.append(f); f.submit(); },
      () => { const f = document.createElement('form'); f.action = '/form'; document.body.append(f); f.submit(); },
      () => { const i = document.createElement('iframe'); i.src = 'http://HOME/frame'; document.body.append(i); },
      () => { const i = document.createElement('img'); i.src = 'http://HOME/image'; document.body.append(i); },
      () => { const o = document.createElement('object'); o.data = 'http://HOME/object'; document.body.append(o); },
      () => { const s = document.createElement('script'); s.src = 'http://HOME/script'; document.body.append(s); },
      () => { for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'preload', 'prerender', 'stylesheet']) {
                const l = document.createElement('link'); l.rel = rel; l.as = 'script'; l.href = 'http://HOME/' + rel;
                document.head.append(l); } },
      () => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:HOME'}, {urls: 'turn:HOME?transport=tcp',
                username: 'x', credential: 'x'}]}); c.createDataChannel('x'); c.createOffer().then(o =>
                c.setLocalDescription(o)); },
      () => new WebTransport('https://HOME/transport'),
      () => alert('x'), () => confirm('x'), () => print(),
      () => navigator.geolocation.getCurrentPosition(() => 0),
      () => { location.href = 'http://HOME/location'; },
      () => { location.href = 'file:///etc/passwd'; },
      () => { location.href = '/elsewhere'; },
      () => { location.href = 'data:text/html,x'; },
    ];
    for (const each of tries) { try { const made = each(); if (made && made.catch) made.catch(() => 0); } catch {} }
    """.replace(b"HOME", home).replace(b"PORT", b"%d" % port)
