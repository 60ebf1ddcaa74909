"""Language models: which role is which model, what each call cost, and who asked.

``service.py`` is what the portal opens; nothing here imports a model's library before the first
call, and nothing at all where ``services.models`` names no role.
"""
