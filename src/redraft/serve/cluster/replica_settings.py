"""What a model on a cluster is served with: the `args` of an application in a Serve configuration file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from redraft.serve.served_models import CPU_BATCH, GPU_BATCH


class ReplicaSettings(BaseModel):
    """The options of `redraft serve` that replicas need. The API key is not one of them: files are read by many."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None  # None: the bundled model
    device: str | None = None
    batch_size: int | None = Field(None, ge=1)
    queue: int = Field(256, ge=1)  # sentences that may wait in each replica
    threads: int = Field(1, ge=1)  # of each replica
    replicas: int = Field(1, ge=1)
    max_replicas: int | None = Field(None, ge=1)  # more are started under load, up to this number
    allow_host: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    trust_remote_code: bool = False
    pickled_weights: bool = False
    log_text: bool = False

    @property
    def uses_gpu(self) -> bool:
        return (self.device or "").startswith("cuda")

    @property
    def expected_batch(self) -> int:
        """The batch size, as far as it is known before the model is loaded."""
        return self.batch_size or (GPU_BATCH if self.uses_gpu else CPU_BATCH)
