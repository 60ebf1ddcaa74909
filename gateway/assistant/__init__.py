"""The assistant: a chat that answers from what the portal holds, with its person's own rights.

``assistant`` is the way in: it begins, stops and follows answers. ``run`` writes one, over a model
of the role ``chat`` and the tools of the catalog; ``store`` keeps conversations, each for its
person alone; ``stream`` says what came since a client last heard.
"""
