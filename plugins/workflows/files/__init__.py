"""The playbook as files that a person writes: read, written, imported and exported."""
