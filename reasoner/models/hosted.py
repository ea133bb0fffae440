"""Any model that LiteLLM can reach, behind a role; the only importer of litellm.

LiteLLM routes; everything that costs money twice or hangs is switched off or held from outside:
its own retries are off (a failing call is sent once, retries are the session's and are
counted), and the session's deadline cancels a call whose body drips or never ends.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reasoner.chat import Capability, Reply, Request, Usage
from reasoner.errors import ModelError, UsageError

#: What servers behind a provider prefix can do, where it is not the default.
_ABLE: Mapping[str, frozenset[Capability]] = {
    "hosted_vllm": frozenset(Capability),
    "openai": frozenset({Capability.JSON_SCHEMA, Capability.STOP, Capability.SEED}),
}
_DEFAULT_ABLE = frozenset({Capability.STOP})
MAX_REPLY = 200_000
_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$")
_RETRY_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class HostedModel:
    """One deployment group of a `litellm.Router`."""

    def __init__(
        self,
        model: str,
        router: Any,
        *,
        capabilities: frozenset[Capability],
        concurrency: int,
        secrets: Sequence[str] = (),
    ) -> None:
        self.id = model
        self.capabilities = capabilities
        self.concurrency = concurrency
        self._router = router
        self._secrets = tuple(secrets)

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once; see `reasoner.chat.ChatModel`."""
        arguments: dict[str, Any] = {
            "model": self.id,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "timeout": timeout_s,
            "max_retries": 0,
            **{k: _number(k, v) for k, v in request.settings.items()},
        }
        if request.stop and Capability.STOP in self.capabilities:
            arguments["stop"] = list(request.stop)
        if Capability.SEED in self.capabilities:
            arguments["seed"] = request.seed
        if request.schema is not None:
            schema = {"name": "reply", "schema": dict(request.schema), "strict": True}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.continue_last:
            arguments["extra_body"] = {
                "continue_final_message": True,
                "add_generation_prompt": False,
            }
        try:
            response = await self._router.acompletion(**arguments)
        except Exception as error:  # litellm raises the errors of a hundred providers
            raise self._explain(error) from None
        return self._reply(response)

    def _reply(self, response: Any) -> Reply:
        choices = getattr(response, "choices", None)
        if not choices:
            raise ModelError(f"{self.id}: the reply holds no choice", retry=True)
        text = getattr(choices[0].message, "content", None)
        if text is None:
            raise ModelError(f"{self.id}: the reply holds no text", retry=True)
        usage = getattr(response, "usage", None)
        prompt = int(getattr(usage, "prompt_tokens", 0) or 0)
        completion = int(getattr(usage, "completion_tokens", 0) or 0)
        hidden = getattr(response, "_hidden_params", None) or {}
        cost = float(hidden.get("response_cost") or 0.0)
        unknown = prompt + completion == 0
        if unknown:
            completion = max(1, len(text) // 4)
        return Reply(
            text=text[:MAX_REPLY],
            finish="length" if choices[0].finish_reason == "length" else "stop",
            usage=Usage(prompt, completion, cost, estimated=unknown),
            model=self.id,
        )

    def _explain(self, error: Exception) -> ModelError:
        status = getattr(error, "status_code", None)
        kind = type(error).__name__
        first = str(error).strip().splitlines()[0] if str(error).strip() else kind
        for secret in self._secrets:
            first = first.replace(secret, "***")
        hint = ""
        if status in {401, 403} or "api_key" in str(error):
            hint = "; set the provider's key in the environment"
        elif status == 404:
            hint = "; is the name of the model right?"
        elif kind == "ContextWindowExceededError":
            hint = "; the prompt is longer than the model can read"
        elif "Connection" in kind or "connect" in first.lower():
            hint = "; is the server running, and --api-base right?"
        retry = status in _RETRY_STATUS and kind != "ContextWindowExceededError"
        return ModelError(f"{self.id}: {first[:300]}{hint}", retry=retry)


def connect(
    models: Mapping[str, Mapping[str, Any]],
) -> dict[str, HostedModel]:
    """Return a model for each name; ``models`` maps names to settings of a deployment.

    Settings: ``model`` (LiteLLM's name), ``api_base``, ``api_key_env``, ``capabilities``,
    ``concurrency``.

    Raises
    ------
    UsageError
        If LiteLLM knows no provider for a model.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.telemetry = False
    secrets = [v for k, v in os.environ.items() if _SECRET.search(k) and len(v) >= 8]
    deployments = []
    found: dict[str, HostedModel] = {}
    settings: dict[str, Mapping[str, Any]] = {}
    for name, given in models.items():
        model = str(given["model"])
        provider = _provider(litellm, model)
        params: dict[str, Any] = {"model": model}
        if given.get("api_base"):
            params["api_base"] = given["api_base"]
            params["api_key"] = "none"
        if env := given.get("api_key_env"):
            if env not in os.environ:
                raise UsageError(f"{name}: the environment has no variable {env!r} with its key")
            params["api_key"] = os.environ[env]
            secrets.append(os.environ[env])
        deployments.append({"model_name": model, "litellm_params": params})
        able = given.get("capabilities")
        capabilities = (
            frozenset(map(Capability, able))
            if able is not None
            else _capabilities(litellm, provider, model)
        )
        settings[name] = {"model": model, "capabilities": capabilities}
    router = litellm.Router(
        model_list=deployments, num_retries=0, set_verbose=False, disable_cooldowns=True
    )
    for name, given in models.items():
        found[name] = HostedModel(
            settings[name]["model"],
            router,
            capabilities=settings[name]["capabilities"],
            concurrency=int(given.get("concurrency", 16)),
            secrets=secrets,
        )
    return found


def _provider(litellm: Any, model: str) -> str:
    try:
        return str(litellm.get_llm_provider(model)[1])
    except Exception:  # its error classes differ between versions
        raise UsageError(
            f"unknown model {model!r}: write PROVIDER/NAME, such as openai/gpt-4o-mini, "
            "hosted_vllm/NAME with --api-base URL, or 'builtin'"
        ) from None


def _capabilities(litellm: Any, provider: str, model: str) -> frozenset[Capability]:
    able = _ABLE.get(provider)
    if able is not None:
        return able
    if litellm.supports_response_schema(model=model):
        return _DEFAULT_ABLE | {Capability.JSON_SCHEMA}
    return _DEFAULT_ABLE


def _number(name: str, value: Any) -> int | float:
    return int(value) if name == "max_tokens" else float(value)
