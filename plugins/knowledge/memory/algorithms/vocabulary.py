"""The words by which short sentences are read (``claims.py``): verbs, values, words of change."""

from __future__ import annotations

import re

from gateway.toolkit.words import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> dict[str, str]:
    """The words of lines such as ``group: word word``, each with its group."""
    lines = (line.partition(":") for line in text.strip().splitlines())
    return {word: group.strip() for group, _, words in lines for word in words.split()}


VERBS = _groups("""
be: is are was were be being been am becomes became become equals
change: changes
live: live lives lived living moved moves moving relocated resides resided
work: work works worked working joined
meet: meet meets met gather gathers gathered takes take took held happens happen
start: start starts begin begins began
end: end ends finishes finish
open: open opens opened
close: close closes closed
leave: leave leaves departs depart departed
arrive: arrive arrives arrived
cost: cost costs pay pays paid charge charges
have: has have had own owns owned
keep: keep keeps kept store stores stored stays stay hold holds hangs lies
want: prefer prefers preferred favours want wants wanted likes like liked
use: use uses used drive drives drove ride rides wear wears play plays
run: run runs hosts hosted lead leads led chairs manages managed handles coordinates
run: upgraded downgraded
call: call calls contact ask
buy: buy buys bought order orders ordered get gets got supplies
sell: sell sells sold
study: study studies studied attend attends teaches taught
marry: dates dating married engaged divorced
need: allow allows requires required require need needs accepts
go: go goes went
know: know knows knew write writes written wrote made make makes
""")
"""Verbs, each with the group of those that say the same."""
AUXILIARIES = _words("will would can could shall should may might must do does did has have had")
ATTRIBUTE_VERBS = {
    "flat": "live",
    "home": "live",
    "house": "live",
    "apartment": "live",
    "job": "work",
    "employer": "work",
    "price": "cost",
    "fee": "cost",
    "opening": "open",
    "closing": "close",
    "supplier": "buy",
    "host": "run",
}
"""Properties whose value is what a verb says: "Ana's flat is in" is "Ana lives in"."""
ROLES = frozenset(
    map(
        stem,
        _words(
            "chair treasurer head leader president captain coordinator contact secretary manager "
            "editor host director mayor caretaker moderator maintainer spokesperson landlord boss"
        ),
    )
)
"""Roles that one holds at a time: "Ana is the treasurer of the club"."""
LABELS = ROLES | frozenset(
    map(
        stem,
        _words(
            "account address age agenda allergies allergy bank birthday branch brand breakfast "
            "capacity car channel closing code color colour contract currency database date day "
            "deadline dentist diagnosis diet dinner doctor domain dose editor email employer fee "
            "flat font framework goal hobby home hometown host hours insurance job key language "
            "lawyer licence license link location logo lunch medication meeting menu model motto "
            "name nationality opening owner parking partner password pet phone pin place plan "
            "port price priority pronouns provider region repo risk room school server size "
            "slogan sponsor stack status supplier teacher theme time timezone title token tool "
            "topic url vendor venue version website wifi winner"
        ),
    )
)
"""What stands before a colon and is a property, of which a value follows: "Venue: the barn"."""
RELATIVES = frozenset(
    map(
        stem,
        _words(
            "brother sister mother father mum dad son daughter wife husband partner girlfriend "
            "boyfriend friend child kid uncle aunt cousin grandmother grandfather colleague boss "
            "neighbour dog cat"
        ),
    )
)
"""Who is somebody's, and somebody of their own: what is said of them is of nobody else."""
TIMES = _words(
    "morning evening afternoon night spring summer autumn winter year month week day weekend"
)
"""What stands behind "in" and "at", and is no place."""
NEGATIONS = _words("not no never none cannot without nobody nothing neither nor")
LIMITS = _words("than until till before only just yet")
"""Words with which a negation denies nothing: "not until Monday", "not more than 8"."""
PREPOSITIONS = _words("in on from at since as of for by after before until")
PAST = _words(
    "went came saw did gave found told said ate won lost spent handed forgot flew swam met"
)
"""Verbs of what was done once, beside those that end in -ed."""
CUE = re.compile(
    r"^(?:new|(?:no|oh|well|sorry)?,? ?actually)\b|\b(?:no longer|any ?more|instead|rather than"
    r"|chang(?:ed|es|e) (?:to|from|jobs)|changed"
    r"|mov(?:ed|es|ing) (?:to|from|\w+ to|the \w+ to)|switch(?:ed|es|ing)?|replac(?:ed|es)"
    r"|(?<!right )(?<!just )(?<!by )(?<!until )(?<!till )(?<!while )now(?! that\b| and then\b)"
    r"|from \w+ on|from now on|as of|postponed|rescheduled|cancel+ed|called off"
    r"|correct(?:ion|ed)|turns? out|renamed|stopped|quit|gave up|given up|sold|update[sd]?"
    r"|(?:the|my|our|his|her|their|its|\w's) (?-i:new)"
    r"|raised|(?:went|goes|gone) (?:up|down)|cut (?:\w+ ){0,5}to|(?:up|down)graded|rose|fell"
    r"|is back|stepped down|lowered|reduced"
    r"|increased|extended|back to|migrated|repainted|in place of|tak(?:en|es) over|took over"
    r"|handed over|left (?:\w+ ){1,3}(?:and|for)|broke up"
    r"|became|become|decided against|after all|these days)\b",
    re.IGNORECASE,
)
"""Words that say that something has changed."""
CUE_TERMS = frozenset(
    map(
        stem,
        _words(
            "no longer anymore any more instead rather change changed move moved switch switched "
            "replaced replace now postponed rescheduled cancelled actually correction corrected "
            "renamed stopped quit gave given sold updated update new raised lowered extended back "
            "place taken over took handed all lately currently just so well hey also still already "
            "again really quite very yes ok okay oh anyway officially please remember note mind "
            "jobs"
        ),
    )
)
"""Terms that tell of no thing."""
TALK = _words(
    "yeah yep yup nope yes no oh ah aw wow haha hehe lol hmm mm mm-hmm uh uh-huh um okay ok "
    "right well so but thanks sorry please hey hi hello bye i'm you he she it they this that "
    "there"
)
"""What people say and no value has."""
_UNMARKED = "I'm I've I'll don't didn't doesn't isn't can't won't that's you're he's she's let's"
"""What chats write without its apostrophe."""
FILLERS = frozenset(
    map(
        stem,
        TALK
        | _words(_UNMARKED.lower().replace("'", ""))
        | _words(
            "man guys thing things stuff lot lots bit way kind sort time times today tonight "
            "tomorrow yesterday day think thought guess feel felt feeling look looks looking "
            "sound sounds seem seems let try trying say said tell talk hope glad sure maybe "
            "probably definitely absolutely actually good great nice cool fun awesome amazing bad "
            "better best pretty much many little something anything everything everyone people "
            "gonna thank morning hear heard come came going back love"
        ),
    )
)
"""Terms of talk, which tell of no thing: that two have them does not make them speak of one."""
KINDS = {
    stem(form): kind
    for word, kind in _groups("""
day: monday tuesday wednesday thursday friday saturday sunday
month: january february march april june july august september october november december
number: zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
number: fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
number: eighty ninety hundred thousand noon midnight first second third once twice half
frequency: hourly daily weekly monthly quarterly yearly annually
colour: red blue green yellow black white grey gray brown orange purple pink silver gold beige
""").items()
    for form in (word, f"{word}s")
}
"""Terms that are values, each with its kind."""
DIMENSIONS = _groups("""
@time: ms s sec second seconds min minute minutes h hour hours day days week weeks
@time: month months year years
@size: byte bytes kb mb gb tb kib mib gib tib
@length: mm cm m km metre metres meter meters mile miles
@length: kilometre kilometres kilometer kilometers
@weight: mg g kg gram grams kilo kilos kilogram kilograms ton tons tonne tonnes pound pounds
@volume: ml cl l litre litres liter liters
@money: euro euros eur cent cents dollar dollars usd franc francs chf
""")
"""Units, each with what it measures."""
UNITS = frozenset(map(stem, DIMENSIONS))
"""The terms of units."""
OPPOSITES = tuple(
    frozenset(map(stem, pair))
    for pair in _groups("""
open: close lock
allow: forbidden ban prohibit
enabled: disabled
optional: required mandatory
active: inactive
full: empty
free: paid
public: private
indoor: outdoor
hate: love like
like: dislike
single: married
approved: rejected
accepted: declined
weekly: monthly daily
""").items()
)
"""Pairs of terms of which only one holds."""
