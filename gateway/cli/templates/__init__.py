"""Files that commands write; each ends in ``.txt`` so that no tool takes it for our own code."""
