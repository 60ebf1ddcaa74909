"""The tools, one module for each thing that people do with a playbook."""
