"""Whether a text that is not English says that something has changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.foreign_changes import MIN_COSINE, change_in_words

CHANGES = [
    ("Ich wohne in Hamburg.", "Ich wohne jetzt in Berlin."),
    ("Ich wohne in Hamburg.", "Ich bin nach Berlin umgezogen."),
    ("Ich wohne in Hamburg.", "Ich wohne nicht mehr in Hamburg."),
    ("Der Code für das Tor ist 4711.", "Der Torcode ist jetzt 9922."),
    ("Das Treffen ist am Montag.", "Das Treffen wurde auf Mittwoch verschoben."),
    ("Die Miete beträgt 900 Euro.", "Die Miete steigt auf 950 Euro."),
    ("Ich trinke gerne Kaffee.", "Ich trinke keinen Kaffee mehr."),
    ("Unser Vermieter ist Herr Kunz.", "Unser Vermieter ist inzwischen Frau Lang."),
    ("Notre trésorier est Paul Roy.", "Notre trésorier est désormais Luc Petit."),
    ("El código de la alarma es 1234.", "El código de la alarma ha cambiado a 5678."),
    ("Vivo en Madrid.", "Ahora vivo en Valencia."),
    ("Vivo en Madrid.", "Me mudé a Valencia."),
    ("La cuota es de 40 euros al año.", "La cuota sube a 45 euros al año."),
    ("Trabajo en Siemens.", "Ya no trabajo en Siemens."),
    ("J'habite à Lyon.", "J'habite maintenant à Paris."),
    ("J'habite à Lyon.", "J\u2019ai déménagé à Paris."),
    ("La réunion a lieu le lundi.", "La réunion a lieu désormais le mercredi."),
    ("Je travaille chez Renault.", "Je ne travaille plus chez Renault."),
    ("Abito a Roma.", "Adesso abito a Milano."),
    ("A reunião é na segunda.", "A reunião agora é na quarta."),
    ("De vergadering is op maandag.", "De vergadering is nu op woensdag."),
    ("Я живу в Москве.", "Теперь я живу в Казани."),
    ("Я живу в Москве.", "Я переехал в Казань."),
    ("Собрание по понедельникам.", "Собрание теперь по средам."),
    ("Я работаю в Яндексе.", "Я больше не работаю в Яндексе."),
    ("私は東京に住んでいます。", "私は京都に引っ越した。"),
    ("会議は月曜日です。", "会議は水曜日に変更になりました。"),
    ("家賃は9万円です。", "家賃は10万円になりました。"),
    ("我住在北京。", "我搬到了上海。"),
    ("会员费每年四十欧元。", "会员费现在是每年四十五欧元。"),
    ("会议在星期一。", "会议改到星期三。"),
]
BOTH_HOLD = [
    ("Ben wohnt in Hamburg.", "Anna wohnt jetzt in Berlin."),
    ("Ben wohnt in Hamburg.", "Ich wohne jetzt in Berlin."),
    ("Ich wohne in Hamburg.", "Meine Mutter wohnt jetzt in Berlin."),
    ("Ich wohne in Hamburg.", "Ich arbeite jetzt in Hamburg."),
    ("Der Code für das Tor ist 4711.", "Der Code für den Keller ist jetzt 9922."),
    ("Die Bibliothek ist montags geschlossen.", "Die Bibliothek ist jetzt renoviert."),
    ("Die Miete beträgt 900 Euro.", "Die Heizung kostet jetzt 90 Euro."),
    ("Ich wohne in Hamburg.", "Ich wohne in Berlin."),
    ("Vivo en Madrid.", "Ahora mi novia vive en Valencia."),
    ("La cuota es de 40 euros.", "La entrada es ahora de 5 euros."),
    ("J'habite à Lyon.", "Marie habite maintenant à Paris."),
    ("Le mot de passe du wifi est tournesol.", "Le mot de passe du portail est maintenant lilas."),
    ("La réunion a lieu le lundi.", "La fête a lieu désormais le mercredi."),
    ("Анна живёт в Москве.", "Теперь я живу в Казани."),
    ("Я живу в Москве.", "Теперь я работаю в Казани."),
    ("母は東京に住んでいます。", "私は京都に引っ越した。"),
    ("私は東京に住んでいます。", "私の母は大阪に引っ越した。"),
    ("会議は月曜日です。", "パーティーは水曜日に変更になりました。"),
    ("会議は三階です。", "会議の参加者は十人になりました。"),
    ("我住在北京。", "我妈妈搬到了上海。"),
    ("会员费每年四十欧元。", "房租现在是每月九百欧元。"),
    ("我去了北京。", "我去了上海。"),
    ("The nun lives in Hamburg.", "The nun lives in Berlin."),
    ("Ich wohne in Hamburg.", "Wohne ich jetzt in Berlin?"),
    ("Ann: Ich wohne in Hamburg.", "Ben: Ich wohne jetzt in Berlin."),
]


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_word_of_change_and_another_value_replace_what_was_said(before: str, after: str) -> None:
    assert change_in_words(after, before, MIN_COSINE, one_owner=True)
    assert not change_in_words(after, before, MIN_COSINE - 0.01, one_owner=True)


@pytest.mark.parametrize(("before", "after"), BOTH_HOLD)
def test_what_is_said_of_something_else_replaces_nothing(before: str, after: str) -> None:
    assert not change_in_words(after, before, 0.95, one_owner=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Meine Miete beträgt 900 Euro.", "Meine Miete beträgt jetzt 950 Euro."),
        ("Vivo en Madrid.", "Ahora vivo en Valencia."),
        ("私は東京に住んでいます。", "私は京都に引っ越した。"),
        ("我住在北京。", "我搬到了上海。"),
    ],
)
def test_what_each_says_of_themselves_is_their_own(before: str, after: str) -> None:
    assert not change_in_words(after, before, 0.95, one_owner=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Die Miete beträgt 900 Euro.", "Die Miete beträgt jetzt 950 Euro."),
        ("会議は月曜日です。", "会議は水曜日に変更になりました。"),
    ],
)
def test_what_two_say_of_one_thing_is_compared(before: str, after: str) -> None:
    assert change_in_words(after, before, 0.95, one_owner=False)


@given(st.text(max_size=100), st.text(max_size=100), st.booleans())
def test_any_two_texts_can_be_compared(one: str, other: str, one_owner: bool) -> None:
    assert not change_in_words(one, one, None, one_owner=one_owner)
    change_in_words(f"jetzt {one} теперь", other, None, one_owner=one_owner)
