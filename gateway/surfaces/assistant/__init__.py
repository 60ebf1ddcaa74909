"""The assistant as people reach it: the pages below ``/chat``, and an API with streams."""
