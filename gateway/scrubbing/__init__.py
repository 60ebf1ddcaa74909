"""Secret scrubbing: credentials leave a call's arguments before anything reads them.

The rules are data (``rules/*.yaml``). :mod:`gateway.scrubbing.scanner` finds what they describe,
:mod:`gateway.scrubbing.scrubber` takes it out of arguments, and
:mod:`gateway.scrubbing.report` says what was taken out, and where. Source: seed 003, "Edge
Secret Scrubbing".
"""
