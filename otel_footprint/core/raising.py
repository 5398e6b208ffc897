"""Where an exception was raised, without a word of its message: that may quote a conversation."""

from __future__ import annotations


def position(error: BaseException) -> str:
    """The file, with the folder it is in, and the line that raised it, such as ``agent/summary.py:12``."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown place"
    parts = trace.tb_frame.f_code.co_filename.replace("\\", "/").strip("/").split("/")
    return f"{'/'.join(parts[-2:])}:{trace.tb_lineno}"
