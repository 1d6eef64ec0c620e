"""What can go wrong. Every exception has the library's words."""


class Error(Exception):
    """Something that becausal cannot do."""


class ArgumentError(Error, ValueError):
    """A parameter is out of its range, or a question cannot be answered."""


class SchemaError(Error, ValueError):
    """A schema has mistakes; the message has their lines and columns."""


class DataError(Error, ValueError):
    """Data do not fit their schema; the message has row and column."""


class SpaceError(Error, TypeError):
    """An environment has an observation or action space that is not covered."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written."""


class NotFoundError(FileError, FileNotFoundError):
    """A file or folder is not there."""


class OutOfMemoryError(Error, MemoryError):
    """The work would need more memory than there is."""


class MissingError(Error, RuntimeError):
    """The run lacks what the question needs: a policy, an environment, a seed."""


class ReplayError(Error, RuntimeError):
    """An environment does not repeat itself from the same seed and actions."""


for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, Error):
        _error.__module__ = "becausal"
