"""A Chromium on this machine that can reach nobody: whatever is not answered over CDP ends at a proxy that is none.

Flags: https://peter.sh/experiments/chromium-command-line-switches/
Quirks: without `<-loopback>` Chromium goes past every proxy to loopback and link-local addresses. Lambda allows no user
namespaces, so Chromium's own sandbox cannot run there; `--single-process` knows one context only and is not used.
"""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_PORT_FILE = "DevToolsActivePort"
_POLL_SECONDS = 0.02
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--no-zygote",
    "--remote-debugging-port=0",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
    "--disable-features=AsyncDns,DnsOverHttps,Prerender2,SpeculationRulesPrefetchFuture,MediaRouter,OptimizationHints,"
    "Translate,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-remote-fonts",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
)


class ChromiumFailedError(Exception):
    """It does not start."""


def arguments(executable: str, profile: Path) -> Sequence[str]:
    return (executable, *_FLAGS, f"--user-data-dir={profile}", "about:blank")


def started(executable: str, profile: Path, seconds: float) -> str:
    """Start it; where its CDP is to be had, on loopback under a name that nobody guesses. It ends with our group.

    Raises ChromiumFailedError.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the executable is the stack's own
            arguments(executable, profile),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ChromiumFailedError from error
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at and process.poll() is None:
        written = profile / _PORT_FILE
        port, _, path = written.read_text().partition("\n") if written.exists() else ("", "", "")
        if port and path:
            return f"ws://127.0.0.1:{port}{path.strip()}"
        time.sleep(_POLL_SECONDS)
    process.kill()
    raise ChromiumFailedError
