"""Models of user input. Only this package, the kinds and the profiles use pydantic."""
