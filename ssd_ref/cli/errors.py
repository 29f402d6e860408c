"""What a user did wrong, as opposed to what we did wrong."""


class CommandError(Exception):
    """Shown as one line, "ssd-ref: error: ..."; the command then exits with status 2."""
