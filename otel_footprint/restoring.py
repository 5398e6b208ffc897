"""The document by which a conversation goes on in another process: ``conversation().to_dict()`` and ``conversation(restore=…)``.

Rules
-----
- One versioned JSON document. It is read when it is handed in, as a whole or not at all: what is malformed, and a version that
  is not known, is refused by name.
- Its id is that of the conversation it was made of; a conversation that is restored without an id of its own goes on under it.
- The document of a window alone (``conversation().window.to_dict()``) is taken too.
"""

from __future__ import annotations

from otel_footprint.core.messages import Json
from otel_footprint.core.state.document import from_document, to_document
from otel_footprint.core.state.values import SavedConversation


def document_of(saved: SavedConversation) -> dict[str, Json]:
    """The document of a conversation; ``json.dumps`` takes it as it is."""
    return to_document(saved)


def saved_in(document: object) -> SavedConversation:
    """What a document says. Raises :class:`~otel_footprint.ConfigurationError` that names what is wrong with it."""
    return from_document(document)
