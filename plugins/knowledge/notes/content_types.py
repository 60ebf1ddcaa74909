"""The types of the ontology (the knowledge server specification, sections 3.3 and 3.4).

Settings name them too, so they stand apart from their fields, which take longer to import.
"""

from __future__ import annotations

from enum import StrEnum


class ContentType(StrEnum):
    """Every type of the ontology (section 3.3)."""

    FILE = "file"
    REFERENCE = "reference"
    INDEX = "index"
    LINK = "link"
    TAG = "tag"
    RESOURCE = "resource"
    PATTERN = "pattern"
    PRACTICE = "practice"
    PRIMITIVE = "primitive"
    PROTOCOL = "protocol"
    PLAYBOOK = "playbook"
    QUESTION = "question"
    STORY = "story"
    STUDY = "study"
    ARTICLE = "article"
    DATA = "data"
    PERSON = "person"
    GROUP = "group"
    PROJECT = "project"
    PLACE = "place"
    GATHERING = "gathering"


CHILDREN: dict[ContentType, tuple[ContentType, ...]] = {
    ContentType.REFERENCE: (ContentType.INDEX, ContentType.LINK, ContentType.TAG),
    ContentType.RESOURCE: (
        ContentType.PATTERN,
        ContentType.PRACTICE,
        ContentType.PRIMITIVE,
        ContentType.PROTOCOL,
        ContentType.PLAYBOOK,
        ContentType.QUESTION,
    ),
    ContentType.STORY: (ContentType.STUDY, ContentType.ARTICLE),
    ContentType.DATA: (
        ContentType.PERSON,
        ContentType.GROUP,
        ContentType.PROJECT,
        ContentType.PLACE,
        ContentType.GATHERING,
    ),
}
"""The parent types and their children (section 3.4)."""


def matching(wanted: ContentType) -> tuple[ContentType, ...]:
    """The types that a filter on ``wanted`` lets through: a parent matches its children too.

    ``file`` is the root of the hierarchy, but as a filter it means the working documents that
    have no type of their own: a filter that matches everything would be of no use.
    """
    return (wanted, *CHILDREN.get(wanted, ()))
