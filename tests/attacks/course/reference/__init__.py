"""The answers of the attacked course."""
