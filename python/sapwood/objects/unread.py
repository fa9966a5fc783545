"""Parts of objects that cannot be read."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError


class UnreadError(UnsupportedError, AttributeError):
    """Use of a part of an object that cannot be read."""


class Unread:
    """Placeholder for a part of an object that cannot be read. It can be printed; any use as a value raises an
    :class:`UnsupportedError` with the reason."""

    def __init__(self, classname: str, why: str) -> None:
        #: The C++ class, if known.
        self.classname = classname
        #: The reason.
        self.why = why

    def __repr__(self) -> str:
        return f"<Unread {self.classname}: {self.why}>"

    def error(self) -> UnreadError:
        """The error for a use of the value."""
        return UnreadError(f"{self.classname or 'a part of the object'} cannot be read: {self.why}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # looked up by Python itself
            raise AttributeError(name)
        raise self.error()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise self.error()

    __len__ = __iter__ = __getitem__ = __contains__ = __call__ = __array__ = _refuse
    __int__ = __float__ = __index__ = __complex__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = __or__ = _refuse
    __ror__ = __neg__ = __pos__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
