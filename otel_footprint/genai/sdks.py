"""The SDKs we know: their official instrumentation, what else may hold them, and how to see that it does.

Rules
-----
- Nothing here imports an SDK or an instrumentation: versions come from package metadata, what is held from modules that
  are loaded already.
- An SDK is held when another tracing instrumentation is on: its instrumentor says so, or one of its wrappers is on a
  method of the SDK. A wrapper of anything else (a retry library, an evaluation tool) holds nothing.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import FrameType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class SdkState:
    """What became of one SDK.

    - ``name``: as the settings spell it; ``distribution`` and ``version``: of the installed SDK, None if there is none.
    - ``instrumentation``: the official one's distribution, with its version where installed.
    - ``on``: whether its calls reach us; ``pending``: turned on as soon as the application imports it.
    - ``held_by``: another instrumentation that is on for it; ``why``: why it is off, in one line; ``note``: what to know
      although it is on.
    """

    name: str
    distribution: str
    version: str | None
    instrumentation: str
    on: bool
    held_by: str | None = None
    why: str | None = None
    pending: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Sdk:
    """One SDK.

    - ``module``: imported by every application that uses it; its import is the moment to instrument.
    - ``accepts``: the versions that work with the official instrumentation, where its own pin is narrower than that.
    - ``methods``: ``module:Class.method``, where a wrapper shows who holds the SDK.
    - ``rivals``: ``module:Instrumentor`` of other instrumentations.
    """

    name: str
    distribution: str
    module: str
    instrumentation: str
    instrumentor: str
    methods: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    accepts: str | None = None


SDKS: Final[tuple[Sdk, ...]] = (
    Sdk(
        name="openai",
        distribution="openai",
        module="openai",
        instrumentation="opentelemetry-instrumentation-genai-openai",
        instrumentor="opentelemetry.instrumentation.genai.openai:OpenAIInstrumentor",
        methods=(
            "openai.resources.chat.completions:Completions.create",
            "openai.resources.chat.completions:AsyncCompletions.create",
            "openai.resources.responses.responses:Responses.create",
            "openai.resources.responses.responses:AsyncResponses.create",
            "openai:OpenAI.request",
            "openai:AsyncOpenAI.request",
        ),
        rivals=(
            "opentelemetry.instrumentation.openai:OpenAIInstrumentor",
            "opentelemetry.instrumentation.openai_v2:OpenAIInstrumentor",
            "openinference.instrumentation.openai:OpenAIInstrumentor",
        ),
    ),
    Sdk(
        name="anthropic",
        distribution="anthropic",
        module="anthropic",
        instrumentation="opentelemetry-instrumentation-genai-anthropic",
        instrumentor="opentelemetry.instrumentation.genai.anthropic:AnthropicInstrumentor",
        methods=(
            "anthropic.resources.messages:Messages.create",
            "anthropic.resources.messages:AsyncMessages.create",
            "anthropic.resources.messages:Messages.stream",
        ),
        rivals=(
            "opentelemetry.instrumentation.anthropic:AnthropicInstrumentor",
            "openinference.instrumentation.anthropic:AnthropicInstrumentor",
        ),
    ),
    Sdk(
        name="google-genai",
        distribution="google-genai",
        module="google.genai",
        instrumentation="opentelemetry-instrumentation-google-genai",
        instrumentor="opentelemetry.instrumentation.google_genai:GoogleGenAiSdkInstrumentor",
        methods=(
            "google.genai.models:Models.generate_content",
            "google.genai.models:AsyncModels.generate_content",
        ),
        rivals=(
            "opentelemetry.instrumentation.google_generativeai:GoogleGenerativeAiInstrumentor",
            "openinference.instrumentation.google_genai:GoogleGenAIInstrumentor",
        ),
        accepts=">=1.32.0,<4",  # its pin ends before 3; what it wraps is the same in 3
    ),
    Sdk(
        name="bedrock",
        distribution="boto3",
        module="botocore.session",
        instrumentation="opentelemetry-instrumentation-genai-bedrock",
        instrumentor="opentelemetry.instrumentation.genai.bedrock:BedrockInstrumentor",
        methods=("botocore.client:BaseClient._make_api_call", "botocore.client:ClientCreator.create_client"),
        rivals=(
            "opentelemetry.instrumentation.botocore:BotocoreInstrumentor",
            "opentelemetry.instrumentation.bedrock:BedrockInstrumentor",
            "openinference.instrumentation.bedrock:BedrockInstrumentor",
        ),
    ),
    Sdk(
        name="langchain",
        distribution="langchain-core",
        module="langchain_core.language_models.chat_models",  # by then all that the instrumentation wraps is loaded
        instrumentation="opentelemetry-instrumentation-genai-langchain",
        instrumentor="opentelemetry.instrumentation.genai.langchain:LangChainInstrumentor",
        methods=("langchain_core.callbacks:BaseCallbackManager.__init__",),
        rivals=(
            "opentelemetry.instrumentation.langchain:LangchainInstrumentor",
            "openinference.instrumentation.langchain:LangChainInstrumentor",
        ),
    ),
)

BY_NAME: Final = {sdk.name: sdk for sdk in SDKS}

_TRACING: Final = (
    "opentelemetry.instrumentation.",
    "openinference.instrumentation.",
    "openlit.",
    "logfire.",
    "langfuse.",
    "traceloop.",
    "agentops.",
)
"""Packages whose wrappers on an SDK's methods make spans of model calls."""

_OFFICIAL: Final = ("opentelemetry.instrumentation.genai.", "opentelemetry.instrumentation.google_genai")


def installed(distribution: str) -> str | None:
    """The version of an installed distribution."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def conflict(sdk: Sdk, version: str, instrumentation_version: str) -> str | None:
    """Why the official instrumentation does not fit the installed SDK, naming both versions; None where it does."""
    accepts = sdk.accepts or _pin(sdk)
    if accepts is None or fits(version, accepts):
        return None
    return f"{sdk.distribution} {version} is installed; {sdk.instrumentation} {instrumentation_version} takes {accepts}"


_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?")
_CLAUSE: Final = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)")
_COMPARE: Final[Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def fits(version: str, accepts: str) -> bool:
    """Whether the numbers of a version are in a range such as ``>=1.26.0,<4``. What cannot be read excludes nothing.

    Not the packaging library: importing it takes longer than everything else here, in every process that starts.
    """
    installed_release = _release(version)
    if installed_release is None:
        return True
    for comparison, number in _CLAUSE.findall(accepts):
        bound = _release(number) or ()
        width = max(len(bound), len(installed_release))
        if not _COMPARE[comparison](_padded(installed_release, width), _padded(bound, width)):
            return False
    return True


def _release(version: str) -> tuple[int, ...] | None:
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else None


def _padded(release: tuple[int, ...], width: int) -> tuple[int, ...]:
    return release + (0,) * (width - len(release))


def _pin(sdk: Sdk) -> str | None:
    for line in metadata.requires(sdk.instrumentation) or ():
        match = _REQUIREMENT.match(line)
        if match and match[1].replace("_", "-").lower() == sdk.distribution and match[2].strip():
            return match[2].strip()
    return None


def loaded(path: str) -> Any:
    """What ``module:Name.attribute`` names, where its module is loaded; None where there is no such thing."""
    module_name, _, names = path.partition(":")
    target: Any = sys.modules.get(module_name)
    for name in names.split("."):
        target = getattr(target, name, None)
    return target


def is_on(instrumentor: str) -> bool:
    """Whether the instrumentor of this class (``module:Class``) says that it is on."""
    single = getattr(loaded(instrumentor), "_instance", None)
    return bool(getattr(single, "_is_instrumented_by_opentelemetry", False))


def holder(sdk: Sdk) -> str | None:
    """The other instrumentation that is on for this SDK, as the module it lives in; None where there is none."""
    for rival in sdk.rivals:
        if is_on(rival):
            return rival.partition(":")[0]
    for module_name in wrapper_modules(sdk):
        if module_name.startswith(_TRACING) and not module_name.startswith(_OFFICIAL):
            return _package(module_name)
    return None


def being_turned_on(sdk: Sdk) -> str | None:
    """The other instrumentation whose code is importing this SDK right now: it is about to hold it."""
    return on_stack(*(rival.partition(":")[0] for rival in sdk.rivals))


def on_stack(*packages: str) -> str | None:
    """The first of these packages that has a function running in this thread, from the innermost call outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module_name = str(frame.f_globals.get("__name__", ""))
        for package in packages:
            if module_name == package or module_name.startswith(package + "."):
                return package
        frame = frame.f_back
    return None


def wrapper_modules(sdk: Sdk) -> Iterator[str]:
    """The modules whose wrappers are on the SDK's methods, where the SDK is loaded."""
    for method in sdk.methods:
        yield from _layers(loaded(method))


def _layers(method: Any) -> Iterator[str]:
    """From the outermost wrapper inwards: where each is defined. wrapt's wrappers and plain closures alike."""
    for _ in range(16):
        if method is None:
            return
        wrapper = getattr(method, "_self_wrapper", None)
        inner = getattr(method, "__wrapped__", None)
        if wrapper is not None:
            yield str(getattr(wrapper, "__module__", "") or type(wrapper).__module__)
        elif inner is not None:
            code_globals = getattr(method, "__globals__", None)  # functools.wraps copies __module__ from the inner one
            yield str((code_globals or {}).get("__name__", ""))
        else:
            return
        method = inner


def _package(module_name: str) -> str:
    """``openinference.instrumentation.openai._request`` to ``openinference.instrumentation.openai``."""
    parts = module_name.split(".")
    return ".".join(parts[:3] if parts[1:2] == ["instrumentation"] else parts[:1])
