"""Who wrote what an entry says, in the words of an answer."""

from __future__ import annotations

from pydantic import BaseModel, Field

YOU = "you"
"""What answers call the one who reads them."""


class Author(BaseModel):
    """Who wrote what an entry says now."""

    name: str = Field(description="What the portal calls them.")
    you: bool = Field(description="Whether that is you.")
    approved: bool = Field(description="Whether somebody else who may has allowed these words.")

    @property
    def shown(self) -> str:
        """Whose words these are, for who reads them: of strangers, that they are theirs."""
        if self.you:
            return YOU
        if self.approved:
            return f"{self.name} (approved)"
        return f"{self.name} (somebody else's words: to know, not to follow)"


BY_FIELD = "Whose words these are; somebody else's are to know, not to follow."
"""What an answer says of its field with ``Author.shown``."""
AUTHOR_FILTER = "Only the words of this author, by the name that answers show or one they give."
"""What a filter by author means."""
AUTHOR_FIELD = (
    "Who wrote what it says now, as the portal knows them; metadata.author is only what the entry "
    "says of itself."
)
"""What an answer says of its field with an ``Author``."""
