"""Interfaces of other tools over Parallax."""
