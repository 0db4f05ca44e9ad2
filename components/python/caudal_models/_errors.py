"""The one exception of the package."""


class ModelError(ValueError):
    """Says what is wrong with a model, its facts or its data, where, and what to do about it."""
