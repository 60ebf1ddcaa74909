"""Work for agents: items that plugins publish, and members' own models answer (decision 0063).

``publishing`` takes items in, ``desk`` hands them out and takes answers, ``settling`` puts answers
to use in durable jobs, ``access`` says who may see an item, and ``tools`` is what agents call.
Every change of an item's state is a transaction under one lock, so that replicas agree.
"""
