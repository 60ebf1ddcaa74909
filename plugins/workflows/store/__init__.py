"""The rows of a playbook, read and written.

Read by ``queries`` (items, found and listed), ``full_items``, ``folder_lists`` and
``workflow_prompts``; each query carries the condition of ``visibility``.

Written by ``workflows`` (with ``workflow_stages``), ``skills`` (with ``attachments``) and
``mini_prompts``, within one ``change``, which ``transactions`` opens and ends: it leaves
``revisions``, and ``search_texts`` under a new number of ``sequence``.

``folders``, ``folder_edits``, ``library``, ``links``, ``runs`` and ``notes`` have
transactions of their own.
"""
