"""Any model that LiteLLM can reach, behind a role; the only importer of litellm.

LiteLLM routes; everything that costs money twice or hangs is switched off or held from outside:
its own retries are off (a failing call is sent once, retries are the session's and are
counted), and the session's deadline cancels a call whose body drips or never ends.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from reasoner.chat import Capability, Reply, Request, Usage
from reasoner.errors import ModelError, UsageError, printable
from reasoner.models.settings import Deployment

#: What servers behind a provider prefix can do, where it is not the default.
_ABLE: Mapping[str, frozenset[Capability]] = {
    "hosted_vllm": frozenset(Capability),
    "openai": frozenset({Capability.JSON_SCHEMA, Capability.STOP, Capability.SEED}),
}
_DEFAULT_ABLE = frozenset({Capability.STOP})
MAX_REPLY = 200_000
MAX_REASON = 300
#: LiteLLM's own limit lies behind the session's, so that always the same one decides.
_GRACE_S = 1.0
_RETRY_STATUS = frozenset({200, 408, 409, 425, 429, 500, 502, 503, 504, 529})
_CUT = frozenset({"length", "content_filter"})

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_FORM = re.compile(r"\bsk-[\w-]{8,}|(?<=Bearer )[\w.~+/=-]{8,}")
#: What LiteLLM puts before a provider's own words, and what changes from run to run in them.
_CLASSES = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)(?: Error)?(?::| -)\s*)+")
_NOISE = re.compile(r" ssl:(?:default|<[^>]*>)| Traceback \(most recent call last\):")
_NO_KEY = re.compile(r"missing.{0,40}(?:api[ _]?key|credentials)", re.IGNORECASE)
_GARBAGE = re.compile(
    r"json response|invalid response|Expecting |Unterminated string", re.IGNORECASE
)


def _retry_after(error: Exception) -> float:
    """Return the seconds of a Retry-After header; 0 without one, or with a date."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except (TypeError, ValueError, AttributeError):
        return 0.0


class HostedModel:
    """One deployment of a `litellm.Router`."""

    #: A language model takes any task.
    tasks: frozenset[str] | None = None

    def __init__(
        self,
        name: str,
        deployment: Deployment,
        router: Any,
        *,
        capabilities: frozenset[Capability],
        key_hint: str = "",
        secrets: Sequence[str] = (),
    ) -> None:
        model = deployment.model
        self.id = model if name == model else f"{name} ({model})"
        self.capabilities = capabilities
        self.concurrency = deployment.concurrency
        self._name = name
        self._max_tokens = deployment.max_tokens
        self._router = router
        self._key_hint = key_hint
        self._secrets = sorted(secrets, key=len, reverse=True)

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Send a request once; see `reasoner.chat.ChatModel`."""
        arguments: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "timeout": timeout_s + _GRACE_S,
            "max_retries": 0,
        }
        if self._max_tokens is not None:  # the recipe has the last word
            arguments["max_tokens"] = self._max_tokens
        arguments |= {k: _number(k, v) for k, v in request.settings.items()}
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
            return self._reply(response, request)
        except ModelError:
            raise
        except Exception as error:  # litellm raises the errors of a hundred providers
            raise self._explain(error) from None

    def _reply(self, response: Any, request: Request) -> Reply:
        choices = getattr(response, "choices", None)
        if not choices:
            raise ModelError(f"{self.id}: the reply holds no choice", retry=True)
        reason = choices[0].finish_reason
        text = getattr(choices[0].message, "content", None)
        if not text and reason == "content_filter":
            raise ModelError(f"{self.id}: the provider's content filter refused to reply")
        if text is None and reason == "length":  # all of it went into hidden thoughts
            text = ""
        if not isinstance(text, str):
            raise ModelError(f"{self.id}: the reply holds no text", retry=True)
        if request.continue_last:
            text = _new_text(text, request.messages[-1].content)
        return Reply(
            text=text[:MAX_REPLY].encode(errors="replace").decode(),  # no halves of characters
            finish="length" if reason in _CUT or len(text) > MAX_REPLY else "stop",
            usage=_usage(response, request, text),
            model=self.id,
        )

    def _explain(self, error: Exception) -> ModelError:
        status = getattr(error, "status_code", None)
        reason, hint, retry = self._reason(error), "", status in _RETRY_STATUS
        if status in {401, 403} or _NO_KEY.search(reason):
            retry, hint = False, self._key_hint
        elif type(error).__name__ == "ContextWindowExceededError":
            retry, hint = False, "the prompt is longer than the model can read"
        elif status == 404:
            hint = "is the name of the model right?"
        elif status == 200 or _GARBAGE.search(reason):
            hint = "is this an OpenAI-compatible server?"
        elif status not in {408, 429} and "connect" in reason.lower():
            hint = "is the server running, and is its address right (--api-base)?"
        message = f"{self.id}: {reason}{'; ' * bool(hint)}{hint}"
        return ModelError(message, retry=retry, after_s=_retry_after(error))

    def _reason(self, error: Exception) -> str:
        """Return a provider's own words on one line, without secrets."""
        text = _NOISE.sub("", _CLASSES.sub("", str(error))).strip()
        with suppress(ValueError, TypeError, KeyError, RecursionError):  # else shown as it is
            text = str(json.JSONDecoder().raw_decode(text)[0]["error"]["message"])
        for secret in self._secrets:
            text = text.replace(secret, "***")
        text = _SECRET_FORM.sub("***", text)
        lines = text.strip().splitlines() or [type(error).__name__]
        return printable(lines[0][:MAX_REASON])


def connect(models: Mapping[str, Mapping[str, Any]]) -> dict[str, HostedModel]:
    """Return a model for each name; ``models`` maps names to the content of a `Deployment`.

    Raises
    ------
    UsageError
        If LiteLLM knows no provider for a model, or a setting is wrong.
    """
    given = {name: _deployment(name, content) for name, content in models.items()}
    litellm = _litellm()
    secrets = [v.strip() for k, v in os.environ.items() if _SECRET_NAME.search(k)]
    group, able, hints = [], {}, {}
    for name, deployment in given.items():
        able[name] = _capabilities(litellm, deployment)
        hints[name] = _key_hint(litellm, deployment)
        params = {"model": deployment.model}
        if deployment.api_base:  # a host of the user's gets no key but the one meant for it
            params |= {"api_base": deployment.api_base, "api_key": "none"}
        if env := deployment.api_key_env:
            if not os.environ.get(env):
                raise UsageError(f"{name}: the environment has no variable {env!r} with its key")
            params["api_key"] = os.environ[env].strip()
            secrets.append(params["api_key"])
        group.append({"model_name": name, "litellm_params": params})
    router = litellm.Router(
        model_list=group, num_retries=0, set_verbose=False, disable_cooldowns=True
    )
    router.discard()  # unhooks its global callbacks: every router would count every call
    return {
        name: HostedModel(
            name,
            deployment,
            router,
            capabilities=able[name],
            key_hint=hints[name],
            secrets=[s for s in secrets if len(s) >= 8],
        )
        for name, deployment in given.items()
    }


def _litellm() -> Any:
    """Import LiteLLM and switch off what it does beyond sending a call."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    import litellm
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.telemetry = False
    AsyncHTTPHandler.single_connection_post_request = _send_no_more
    return litellm


async def _send_no_more(*_: Any, **__: Any) -> Any:
    """Stand in for what LiteLLM does when a connection breaks: send the request again.

    Nobody knows whether the server has worked on the first one; paying again is the session's
    decision. Called where the first failure is being handled, which is raised on.
    """
    raise sys.exc_info()[1] or ConnectionError("the connection broke")


def _deployment(name: str, content: Mapping[str, Any]) -> Deployment:
    try:
        return Deployment.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"model {name!r}: {where}: {first['msg']}") from None


def _capabilities(litellm: Any, deployment: Deployment) -> frozenset[Capability]:
    model = deployment.model
    try:
        provider = str(litellm.get_llm_provider(model)[1])
    except Exception:  # its error classes differ between versions
        raise UsageError(
            f"unknown model {model!r}: write PROVIDER/NAME, such as openai/gpt-4o-mini, "
            "hosted_vllm/NAME with --api-base URL, or 'builtin'"
        ) from None
    if deployment.capabilities is not None:
        return frozenset(deployment.capabilities)
    if (able := _ABLE.get(provider)) is not None:
        return able
    if litellm.supports_response_schema(model=model):
        return _DEFAULT_ABLE | {Capability.JSON_SCHEMA}
    return _DEFAULT_ABLE


def _key_hint(litellm: Any, deployment: Deployment) -> str:
    """Return what to do if the provider of a model wants a key, or another one."""
    if deployment.api_key_env:
        return f"is the key in {deployment.api_key_env} right?"
    if deployment.api_base:
        return "the server wants a key: name its variable as api_key_env in a models.yaml"
    missing = litellm.validate_environment(deployment.model)["missing_keys"]
    if missing:
        return f"set {' or '.join(missing)} in the environment"
    return "is the provider's key in the environment right?"


def _new_text(text: str, given: str) -> str:
    """Return a continuation without the text that it continues: llama.cpp repeats it.

    It leaves out thoughts while it does so.
    """
    for head in (given, given.rpartition("</think>")[2]):
        if head.strip() and text.startswith(head):
            return text[len(head) :]
    return text


def _usage(response: Any, request: Request, text: str) -> Usage:
    usage = getattr(response, "usage", None)
    prompt = max(0, int(getattr(usage, "prompt_tokens", 0) or 0))
    completion = max(0, int(getattr(usage, "completion_tokens", 0) or 0))
    hidden = getattr(response, "_hidden_params", None) or {}
    cost = float(hidden.get("response_cost") or 0.0)
    if prompt + completion:
        return Usage(prompt, completion, cost)
    length = sum(len(m.content) for m in request.messages)
    return Usage(max(1, length // 4), max(1, len(text) // 4), cost, estimated=True)


def _number(name: str, value: Any) -> int | float:
    return int(value) if name == "max_tokens" else float(value)
