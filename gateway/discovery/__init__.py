"""A list of tools that fits the client: its cost, the favourites, and a search for the rest.

``discovery`` puts the parts together for the surfaces; ``client_table`` says how a client is told
of many tools, ``cost`` what a tool costs it, ``favourites`` which ones it sees all the same,
``ranking`` which ones fit a question, ``own_tools`` what the search looks like to a model. Decision
record 0037 says why.
"""
