"""Google's ADK with our services, in a process of its own: it needs older packages than the rest is tested with."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.packages import installed_apart

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# google-adk, what this environment has not, and what it has in a version that ADK does not take.
PACKAGES = (
    "google-adk==2.13.0",
    "google-genai==2.34.0",
    "opentelemetry-api==1.44.0",
    "opentelemetry-sdk==1.44.0",
    "opentelemetry-semantic-conventions==0.65b0",
    "websockets==15.0.1",
    "authlib==1.9.10",
    "graphviz==0.21",
    "joserfc==1.8.0",
    "watchdog==6.0.0",
)
FOLDER = "tests/peers/google_adk"
FILES = {
    "adk_sessions": 28,
    "adk_memory": 20,
    "adk_page": 1,
    "adk_session_promises": 67,
    "adk_memory_promises": 31,
    "adk_strange": 108,
}
"""How many tests are in each file, on both databases: none may be lost on the way into that process."""


@pytest.mark.parametrize("name", FILES)
def test_adks_agents_run_on_our_services(name: str) -> None:
    """Run a file of tests with ADK before all else on the path."""
    folder = installed_apart("google-adk", PACKAGES)
    # ADK warns of what it means to change; ours must not.
    options = ["-q", "-p", "no:cacheprovider", "-o", "filterwarnings=default", "--tb=short"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"{FOLDER}/{name}.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=False,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= FILES[name], done.stdout


def test_every_file_of_tests_runs_in_that_process() -> None:
    assert {path.stem for path in (ROOT / FOLDER).glob("adk_*.py")} == set(FILES)


def test_without_adk_the_import_says_how_to_install_it() -> None:
    code = "import sys; sys.modules['google.adk'] = None; import memoranda.integrations.google_adk"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "memoranda[google-adk]"' in done.stderr
    assert "in a checkout: pip install '.[google-adk]'" in done.stderr
