"""What plugins, and the gateway itself, would each write anew otherwise.

A plugin may import it beside ``gateway.contract``, and the same promise holds for both: within a
version of the contract things are only added. Each module stands by itself and is imported where
it is used, so that a plugin without tables never loads SQLAlchemy.
"""
