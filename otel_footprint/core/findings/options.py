"""The settings of findings, validated where they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from otel_footprint.core.errors import ConfigurationError

KEEP_DEFAULT: Final = 6
_KEEP_LIMIT: Final = 1000


@dataclass(frozen=True)
class Findings:
    """What the model is asked to declare, and what is done with it.

    - ``serve``: results set aside are served as small tickets, and the model is given a list of what it declared.
    - ``keep_ledger_facts``: how many turns declared a fact a window strategy keeps, newest first; 0 or False: none.
    - ``code_tools``: names of tools that run code, so that code an answer shows is compared with what was submitted; a
      mapping names the parameter that holds the script.

    Raises ConfigurationError naming the setting, the value and the fix.
    """

    serve: bool = False
    keep_ledger_facts: int = KEEP_DEFAULT
    code_tools: tuple[str, ...] | Mapping[str, str | None] = ()
    scripts: Mapping[str, str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.serve, bool):
            raise ConfigurationError(f"Findings serve={self.serve!r} is not a bool; write True or False")
        keep = 0 if self.keep_ledger_facts is False else self.keep_ledger_facts
        if not isinstance(keep, int) or isinstance(keep, bool) or not 0 <= keep <= _KEEP_LIMIT:
            raise ConfigurationError(
                f"Findings keep_ledger_facts={self.keep_ledger_facts!r}: give a whole number from 0 to {_KEEP_LIMIT}, "
                "or False"
            )
        object.__setattr__(self, "keep_ledger_facts", keep)
        tools = self.code_tools
        if isinstance(tools, (str, bytes)) or not isinstance(tools, (tuple, list, set, frozenset, Mapping)):
            raise ConfigurationError(
                f"Findings code_tools={tools!r}: give a list of tool names, or a mapping from names to parameters"
            )
        scripts = dict(tools) if isinstance(tools, Mapping) else dict.fromkeys(tools)
        for name, parameter in scripts.items():
            if not isinstance(name, str) or not name or not (parameter is None or isinstance(parameter, str)):
                raise ConfigurationError(
                    f"Findings code_tools holds {name!r}: {parameter!r}; names and parameters are texts"
                )
        if not isinstance(tools, Mapping):
            object.__setattr__(self, "code_tools", tuple(scripts))
        object.__setattr__(self, "scripts", scripts)
