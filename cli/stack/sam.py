"""SAM CLI as a quiet servant: no telemetry, no question to the internet, its output shown only when it fails.

Quirk: it asks the package index for a newer version once a week, and keeps the date in its own folder.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from stack import places


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raises SystemExit, after SAM's own words, when it fails."""
    places.SAM_HOME.mkdir(parents=True, exist_ok=True)
    known = {"telemetryEnabled": False, "lastVersionCheck": time.time()}
    (places.SAM_HOME / "metadata.json").write_text(json.dumps(known))
    quiet = {**environment, "__SAM_CLI_APP_DIR": str(places.SAM_HOME), "SAM_CLI_TELEMETRY": "0"}
    done = subprocess.run(
        [places.SAM, *arguments],
        cwd=places.ROOT,
        env=quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise SystemExit(f"sam {arguments[0]} failed")


def main() -> None:
    """Runs SAM CLI with the given arguments on the project, for the Makefile."""
    run(sys.argv[1:], {**os.environ, "AWS_DEFAULT_REGION": os.environ.get("AWS_DEFAULT_REGION", "us-east-1")})


if __name__ == "__main__":
    main()
