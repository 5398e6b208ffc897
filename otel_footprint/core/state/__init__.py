"""The state of a conversation as one document, and a conversation from it."""
