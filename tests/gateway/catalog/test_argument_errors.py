"""A model reads what is wrong with its arguments, and mends them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gateway.catalog.argument_errors import reasons


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Bed(Strict):
    name: str
    plants: list[str] = []

    @model_validator(mode="after")
    def _named(self) -> Bed:
        if not self.name:
            raise ValueError("a bed has a name")
        return self


class Shape(Strict):
    width: int = 1
    height: int = 1


class Garden(Strict):
    garden_id: str
    beds: list[Bed] | None = None
    tags: list[str] | None = None
    size: int = Field(1, ge=1)
    shape: Shape | None = None


def said(arguments: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ValidationError) as failed:
        Garden.model_validate(arguments)
    return {each["argument"]: each["reason"] for each in reasons(failed.value, Garden)}


def test_a_name_in_another_style_leads_to_the_one_that_is_meant() -> None:
    assert said({"gardenId": "north"}) == {
        "garden_id": "is required",
        "gardenId": "there is no such argument; did you mean garden_id?",
    }


@pytest.mark.parametrize("name", ["id", "garden", "gardenID", "garden-id", "the_garden_id"])
def test_a_part_of_one_name_or_more_than_it_leads_to_that_one(name: str) -> None:
    assert said({name: "north"})[name] == "there is no such argument; did you mean garden_id?"


@pytest.mark.parametrize("name", ["width", "Width"])
def test_a_name_inside_another_argument_leads_there(name: str) -> None:
    assert said({"garden_id": "a", name: 3}) == {
        name: "there is no such argument; did you mean shape.width?"
    }


def test_a_name_that_is_like_none_is_answered_with_those_that_there_are() -> None:
    assert said({"garden_id": "a", "where": 1}) == {
        "where": "there is no such argument; there are garden_id, beds, tags, size, shape"
    }
    assert said({"garden_id": "a", "beds": [{"name": "b", "colour": 1}]}) == {
        "beds.0.colour": "there is no such argument; there are name, plants"
    }


def test_the_names_that_there_are_are_listed_once() -> None:
    beds = [{"name": "b", "colour": 1, "shape": 2}, {"name": "c", "colour": 3}]
    assert list(said({"garden_id": "a", "beds": beds}).values()) == [
        "there is no such argument; there are name, plants",
        "there is no such argument",
        "there is no such argument",
    ]


def test_what_is_of_another_kind_is_told_what_it_must_be() -> None:
    assert said({"garden_id": 1, "beds": ["b"], "tags": "a, b", "size": "big"}) == {
        "garden_id": "must be a string",
        "beds.0": "must be an object with some of name, plants",
        "tags": "must be a list, and is a string",
        "size": "must be a whole number",
    }
    assert said({"garden_id": "a", "beds": '[{"name": "b"}]'}) == {
        "beds": "must be a list, and is a string with JSON in it"
    }
    assert said({"garden_id": "a", "tags": 3}) == {"tags": "must be a list"}


def test_other_reasons_are_said_in_the_model_s_own_words() -> None:
    assert said({"garden_id": "a", "size": 0, "beds": [{"name": ""}]}) == {
        "size": "must be greater than or equal to 1",
        "beds.0": "a bed has a name",
    }


def test_arguments_of_no_names_have_none_to_show() -> None:
    class Nothing(Strict):
        pass

    with pytest.raises(ValidationError) as failed:
        Nothing.model_validate({"more": 1})
    assert reasons(failed.value, Nothing)[0]["reason"] == "there is no such argument"
