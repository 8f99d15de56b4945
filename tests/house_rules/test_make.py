"""The Makefiles: what they run is there, and a deployment is built for what it runs on."""

import importlib.util
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.fakes.template import ROOT, template

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def _made(*words: str, folder: str = ".", **variables: str) -> subprocess.CompletedProcess[str]:
    """What make would run, without running it."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "LAYER_"))}
    return subprocess.run(  # noqa: S603
        ["make", "--dry-run", *words],
        cwd=ROOT / folder,
        env={**given, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", sorted(set(re.findall(r"-m ((?:stack|tests)[a-z._]*)", MAKEFILE))))
def test_every_module_that_make_runs_is_there(module: str) -> None:
    """A target whose module was moved fails only for whoever types it."""
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("runtime", template()["Parameters"]["LambdaRuntime"]["AllowedValues"])
@pytest.mark.parametrize("architecture", template()["Parameters"]["LambdaArchitecture"]["AllowedValues"])
def test_a_deployment_is_built_for_what_it_runs_on(runtime: str, architecture: str) -> None:
    """One place says it: the layer's target and the stack's parameters cannot differ."""
    lines = _made(
        "deploy", f"RUNTIME={runtime}", f"ARCHITECTURE={architecture}", "PARAMETERS=Contact=a@b.example"
    ).stdout
    machine = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    glibc = "2_17" if runtime == "python3.11" else "2_28"
    assert f"LAYER_PYTHON={runtime.removeprefix('python')} LAYER_PLATFORM={machine}-manylinux_{glibc} " in lines
    chosen = f"--parameter-overrides LambdaRuntime={runtime} LambdaArchitecture={architecture}"
    assert lines.count(chosen) == 2
    assert f"sam deploy {chosen} Contact=a@b.example" in lines


def test_what_make_deploys_by_default_is_what_a_bare_build_makes() -> None:
    """And what the template says when it is asked nothing."""
    lines = _made("deploy").stdout
    layer = (ROOT / "layers" / "zarniwoop" / "Makefile").read_text(encoding="utf-8")
    python, platform = (
        re.findall(rf"^LAYER_{name} \?= (.+)$", layer, re.MULTILINE)[0] for name in ("PYTHON", "PLATFORM")
    )
    assert f"LAYER_PYTHON={python} LAYER_PLATFORM={platform} " in lines
    defaults = {name: template()["Parameters"][name]["Default"] for name in ("LambdaRuntime", "LambdaArchitecture")}
    assert " ".join(f"{name}={value}" for name, value in defaults.items()) in lines


def test_a_processor_that_lambda_does_not_have_is_refused() -> None:
    """Before anything is built."""
    refused = _made("deploy", "ARCHITECTURE=amd64")
    assert refused.returncode != 0
    assert "ARCHITECTURE is arm64 or x86_64" in refused.stderr


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"LAYER_PLATFORM": "amd64"}, "LAYER_PLATFORM is host or one of"),
        ({"LAYER_PYTHON": "3.11"}, "say LAYER_PLATFORM=aarch64-manylinux_2_17"),
    ],
)
def test_a_target_that_contradicts_itself_builds_no_layer(variables: dict[str, str], told: str) -> None:
    """Its binaries would be found not to load only when the first function starts."""
    refused = _made("build-ZarniwoopLayer", folder="layers/zarniwoop", **variables)
    assert refused.returncode != 0
    assert told in refused.stderr


def test_the_real_model_is_asked_by_its_own_target_alone() -> None:
    """It is compiled for minutes; `make test` neither collects its tests nor counts them as skipped."""
    assert "-m pytest tests/model" in _made("test-model").stdout
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "tests/model" in settings["tool"]["pytest"]["ini_options"]["norecursedirs"]


@pytest.mark.parametrize("group", ["dev", "clients", "stack", "model", "browser"])
def test_every_group_of_packages_is_locked_with_hashes(group: str) -> None:
    """Each that the project names is pinned, and nothing is pinned without a hash."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = [each for each in settings["dependency-groups"][group] if isinstance(each, str)]
    named = {re.split(r"[\[<>=]", each)[0].lower() for each in listed}
    locks = {"browser": "layers/browser/requirements.txt"}
    lock = (ROOT / locks.get(group, f".ci/requirements-{group}.txt")).read_text(encoding="utf-8")
    pinned = re.findall(r"^([a-z0-9._-]+)==[^\n]+\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert named <= set(pinned)
    assert len(pinned) == len(re.findall(r"^[a-z0-9]", lock, re.MULTILINE))


def test_the_clients_of_npm_are_locked_with_hashes_and_without_a_registry() -> None:
    """What is wanted is named by its exact version; `npm ci` takes the rest from whichever registry it is told."""
    folder = ROOT / "tests" / "clients"
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    packages = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert packages.pop("")["dependencies"] == wanted
    for name, version in wanted.items():
        assert packages[f"node_modules/{name}"]["version"] == version
    assert [name for name, each in packages.items() if not each["integrity"].startswith("sha512-")] == []
    assert [name for name, each in packages.items() if "resolved" in each] == []


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"LAYER_BROWSER": "netscape"}, "LAYER_BROWSER is none, chromium or agentcore"),
        ({"LAYER_BROWSER": "chromium"}, "Chromium for Lambda is had for x86_64 alone"),
        (
            {"LAYER_BROWSER": "agentcore", "LAYER_PYTHON": "3.11", "LAYER_PLATFORM": "x86_64-manylinux_2_17"},
            "the Node.js of Playwright needs 2.28",
        ),
    ],
)
def test_a_browser_that_lambda_could_not_run_is_not_built(variables: dict[str, str], told: str) -> None:
    """Every page that needs it would go without."""
    refused = _made("build-BrowserLayer", folder="layers/browser", **variables)
    assert refused.returncode != 0
    assert told in refused.stderr


def test_a_stack_without_a_browser_builds_no_layer_for_one() -> None:
    """Nothing is downloaded, unless BROWSER says what for; and then the stack is told as well."""
    assert "pip install" not in _made("build-BrowserLayer", folder="layers/browser").stdout
    assert "Browser=" not in _made("deploy").stdout
    lines = _made("deploy", "ARCHITECTURE=x86_64", "BROWSER=chromium").stdout
    assert "LAYER_BROWSER=chromium " in lines
    assert lines.count("LambdaArchitecture=x86_64 Browser=chromium") == 2


def test_setup_brings_all_that_a_test_needs_but_what_npm_does() -> None:
    """Once it is done, tests run without a network."""
    made = _made("--always-make", "setup").stdout
    for environment in (".venv", ".stack-venv", ".clients-venv"):
        assert f"touch {environment}/.ready" in made


@pytest.mark.parametrize("target", ["tests/clients/node_modules/.ready", ".local/browser/.ready"])
def test_what_npm_cannot_bring_is_skipped_unless_it_is_required(target: str, tmp_path: Path) -> None:
    """A machine with npm and without its registry runs all the other tests."""
    files = {
        "tests/clients/package.json": "{}",
        "tests/clients/package-lock.json": "{}",
        "layers/browser/requirements.txt": "",
        "layers/browser/Makefile": "build-BrowserLayer:\n\tmkdir -p $(ARTIFACTS_DIR) && false\n",
        ".venv/.ready": "",
        "bin/npm": "#!/bin/sh\nexit 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bin" / "npm").chmod(0o755)

    def made(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["make", f"--file={ROOT / 'Makefile'}", "--old-file=.venv/.ready", target, *words]
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(command, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=False)  # noqa: S603

    softly = made()
    assert (softly.returncode, (tmp_path / target).exists()) == (0, False), softly.stderr
    assert "its tests are skipped" in softly.stderr
    assert made("REQUIRE_NODE=1").returncode != 0
