"""``storage_options=``: how a store is reached, in the words of s3fs, obstore and fsspec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidError
from .checks import flag

#: Address, region, profile, whether requests are unsigned, whether the bucket is in the host's name, and the keys
#: (access key, secret key, session token), as the extension takes them.
S3 = tuple[str | None, str | None, str | None, bool | None, bool | None, tuple[str, str, str | None] | None]

#: Names of the options of S3 stores: ours first, then those of other programs for the same thing.
_NAMES = {
    "endpoint": ("endpoint", "endpoint_url", "endpoint_override", "aws_endpoint"),
    "region": ("region", "region_name", "aws_region"),
    "profile": ("profile",),
    "anonymous": ("anonymous", "anon", "skip_signature"),
    "addressing_style": ("addressing_style",),
    "key": ("key", "access_key_id", "aws_access_key_id", "username"),
    "secret": ("secret", "secret_access_key", "aws_secret_access_key", "password"),
    "token": ("token", "session_token", "aws_session_token"),
}


def of_s3(options: Mapping[str, Any] | None) -> S3 | None:
    """The options of an S3 store; None where there are none.

    Raises:
        InvalidError: an option that is not known, or of the wrong type.
    """
    if not options:
        return None
    given = dict(options)
    # s3fs passes these on to botocore's client
    for name, value in dict(given.pop("client_kwargs", None) or {}).items():
        given.setdefault(name, value)
    found: dict[str, Any] = {}
    for name, names in _NAMES.items():
        values = [given.pop(other) for other in names if other in given]
        found[name] = next((value for value in values if value is not None), None)
    if given:
        raise InvalidError(
            f"storage_options for s3:// has no {', '.join(sorted(map(repr, given)))}; it has {', '.join(_NAMES)}"
        )
    for name, value in found.items():
        # the value may be a secret
        if name != "anonymous" and value is not None and not isinstance(value, str):
            raise InvalidError(f"{name} in storage_options must be a string, not {type(value).__name__}")
    key, secret, token = found["key"], found["secret"], found["token"]
    if (key is None) != (secret is None) or (token is not None and key is None):
        raise InvalidError("storage_options must have both key and secret (and token for temporary credentials)")
    style = found["addressing_style"]
    if style not in (None, "auto", "path", "virtual"):
        raise InvalidError("addressing_style in storage_options is auto, path or virtual")
    return (
        found["endpoint"],
        found["region"],
        found["profile"],
        None if found["anonymous"] is None else flag(found["anonymous"], "anonymous"),
        {"path": False, "virtual": True}.get(style or ""),
        None if key is None else (key, secret, token),
    )
