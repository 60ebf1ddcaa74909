"""Who works on code: as CODEOWNERS says, and as Git's history shows."""
