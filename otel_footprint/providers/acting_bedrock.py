"""Where calls of Bedrock's models are acted on: the one method through which every operation of a botocore client goes."""

from __future__ import annotations

from typing import Final

from otel_footprint.providers.acting_handing import BedrockOperation
from otel_footprint.providers.acting_places import Place
from otel_footprint.providers.bedrock_surface import BedrockConverse

_HANDING: Final = BedrockOperation()
_SURFACE: Final = BedrockConverse()

PLACES: Final = (
    Place("botocore.client", "BaseClient", "_make_api_call", _SURFACE, _HANDING),
    Place("aiobotocore.client", "AioBaseClient", "_make_api_call", _SURFACE, _HANDING, asynchronous=True),
)
