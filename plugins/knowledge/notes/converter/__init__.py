"""Makes Markdown of one document, in a process of its own that ``conversion.py`` starts.

Each kind of document has a module here that is imported only where such a document is read, as
importing what reads it is most of the time that a small one takes.
"""
