"""Start, follow, answer and steer Concerto sessions. Standard library only."""

from .client import Client, ConcertoError, Event

__all__ = ["Client", "ConcertoError", "Event"]
