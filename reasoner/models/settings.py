"""``models.yaml``: deployments by name, and which of them answers which role.

It may name hosts and the variables that hold keys; a recipe may not.
"""

from pydantic import BaseModel, ConfigDict, Field

from reasoner.chat import Capability


class Deployment(BaseModel):
    """One model.

    Attributes
    ----------
    model
        LiteLLM's name: ``openai/gpt-4o-mini``, ``hosted_vllm/Qwen/QwQ-32B``.
    api_base
        Where a self-hosted server listens.
    api_key_env
        The variable of the environment that holds the key.
    capabilities
        What the server can do, where it differs from what its provider usually can.
    concurrency
        The most calls at one time.
    max_tokens
        The most tokens of one reply, where the recipe does not say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    api_base: str | None = None
    api_key_env: str | None = None
    capabilities: tuple[Capability, ...] | None = None
    concurrency: int = Field(default=16, ge=1, le=10_000)
    max_tokens: int | None = Field(default=None, ge=1)


class ModelsFile(BaseModel):
    """The content of ``models.yaml``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: dict[str, Deployment] = {}
    roles: dict[str, str] = {}
    default: str = "builtin"
