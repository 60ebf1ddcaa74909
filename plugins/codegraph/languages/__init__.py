"""One small module per language, behind one interface (``base.py``)."""
