"""What the tools answer with, one module for each module of tools."""
