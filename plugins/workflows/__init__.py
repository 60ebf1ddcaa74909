"""The workflows plugin: a playbook of workflows, skill cards and prompts, walked step by step."""
