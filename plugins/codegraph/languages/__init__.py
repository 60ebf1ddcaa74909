"""One small module a language, behind one interface (``base.py``)."""
