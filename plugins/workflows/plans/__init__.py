"""A workflow as steps: how they are laid out, and plans kept in memory."""
