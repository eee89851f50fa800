"""Times of the log, which has nanoseconds."""

import datetime


def nanoseconds(text):
    """Nanoseconds since 1970 of an RFC 3339 time."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = int(datetime.datetime.fromisoformat(whole + "+00:00").timestamp())
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


def rfc3339(ns):
    whole = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{ns % 10**9:09}Z"
