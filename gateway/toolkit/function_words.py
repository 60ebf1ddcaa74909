"""The words that every sentence of a language has, whatever it is about.

They tell the language of a sentence that is too short for :mod:`gateway.toolkit.languages`, such as
a question, and say nothing of what it is about.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.toolkit.languages import DEFAULT, SAMPLE_CHARACTERS
from gateway.toolkit.words import STOP_WORDS, words

MIN_TOLD = 2
"""Function words that tell a language, all of them different."""
_OTHERS = {
    "ar": """
        آن آیا أن أو أي أين إلى إن از است التي الذي اگر این با باید برای به بود تا ثم خود در
        ذلك را شود على عن عند في كان كل كم كيف لا لم لماذا لن ما ماذا متى مع من می نیست هذا
        هذه هر هل هم هو هي و يمكن چرا چطور چند چه چگونه چیست کجا کدام کند کنم که کی یا یک
    """,
    "da": """
        af alle at blev bliver da de dem den der deres det dig din disse du efter eller en er et får
        for fra gør ham han har hun hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor
        hvornår i ikke ind jeg kan koster kun man mange må med meget men mig min mit når ned noget
        nogle og om op os på så sig sin skal som til ud var ved vi vil være
    """,
    "de": """
        ab aber alle als am an auch auf aus bei beim bin bis bist da damit dann darf das dass daß
        dein deine dem den der des dich die dies diese dieser dieses dir doch du durch ein eine
        einem einen einer eines er es für gegen gibt gilt hab habe haben hat hatte ich ihm ihn ihr
        ihre im in ins ist ja jede jeder jedes kann kannst kein keine kostet können macht man mehr
        mein meine mich mir mit muss musst müssen nach nicht noch nur ob oder ohne sein seine seit
        sich sie sind so soll sollen sollte um und uns unser unsere unter über viel viele vom von
        vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer
        werden wessen wie wieso wieviel will wir wird wo woher wohin wurde wurden zu zum zur
        zwischen
    """,
    "es": """
        a al algo alguien algunos antes aquí así con cómo cuál cuáles cuándo cuánta cuántas cuánto
        cuántos cuesta de debe debo del desde donde dónde durante e el ella ellos en entre era eres
        es esa ese eso esta está están este esto fue fueron ha haber hace hacer hacia han hasta hay
        la las le les lo los más me mi mis muy nada ni no nos nuestra nuestro o otra otro para pero
        por porque puede pueden puedo qué quién quiénes se sea ser si sin sobre son soy su sus
        también tengo tiene tienen todo todos tu tus un una unas uno unos y ya yo
    """,
    "fi": """
        ei että hän he ja joka jos jotka kaikki kanssa keitä kenen ketä koska kuin kuinka kuka kun
        me mihin mikä miksi milloin minä minun missä mistä mitä miten mutta myös ne niin nyt olen
        oli on onko ovat saa saako se sen sinä sitä tai tämä te vai voi voin
    """,
    "fr": """
        ai ainsi alors après au aucun aussi autre aux avant avec avez avoir avons à ce cela ces cet
        cette chez combien comme comment coûte dans de depuis des dois doit donc du elle elles en
        encore entre est et eu eux été être faire fait faut il ils je la laquelle le lequel les leur
        leurs lui ma mais me mes même moi mon ne nos notre nous on ont ou où par pas peut peux plus
        pour pourquoi puis qu quand que quel quelle quelles quelqu quels qui quoi sa sans se sera
        ses si son sont sous suis sur ta te tes toi ton tous tout toute toutes très tu un une vers
        vos votre vous y
    """,
    "hu": """
        a az azt be csak de egy el ez ezt és ha hány hogy hogyan hol hova is így kell ki kik le
        lehet lesz meg mennyi mert mi miért mikor milyen mint mit nagyon nem nincs ő vagy van vannak
        volt
    """,
    "it": """
        a ad agli ai al alla alle anche che chi come con cos cosa costa da dai dal dalla dalle degli
        dei del della delle deve devo di dopo dove e ed era è fa fare fra gli ha hai hanno ho i il
        in io la le lei li lo loro lui ma me mi mia mio ne nei nel nella nelle noi non nostra nostro
        o ogni per perché più posso può qual quale quali quando quanta quante quanti quanto quella
        quello questa questo se sei senza si sono sopra sta stato su sua sul sulla suo ti tra tu
        tutti tutto un una uno vi
    """,
    "nl": """
        aan al alle als ben bij daar dan dat de der deze die dit door een en er geen had heb hebben
        heeft het hij hoe hoeveel hun ik in is je jij jouw kan kost kun kunnen maar mag me meer men
        met mij mijn moet moeten mogen na naar niet nog nu of om onder ons onze ook op over te tegen
        tot u uit uw van veel voor waar waarom wanneer wat we welk welke werd wie wij worden wordt
        ze zich zij zijn zo zonder zou
    """,
    "no": """
        alle at av ble blir da de deg dem den der deres det din disse du eller en er et etter får
        for fra gjør han har hun hva hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke
        inn jeg kan koster kun man mange må med meg meget men min mitt når ned noe noen og om opp
        oss på så seg sin skal som til ut var ved vi vil være
    """,
    "pt": """
        a ao aos as até cada com como custa da das de dela dele depois deve devo do dos e ela ele
        eles em entre era essa esse esta está estão este eu é foi foram há isso isto já lhe mais mas
        me mesmo meu minha muito na nas não nem no nos nossa nosso o onde os ou para pela pelo pode
        podem por porque posso quais qual quando quanta quantas quanto quantos que quem são se sem
        ser seu sobre sua tem tenho ter têm todos tudo um uma uns você
    """,
    "ro": """
        a ai al ale am ar are asă au care când cât câte câți că ce cei cel cine cu cui cum da de
        despre din după e ea ei el este eu fără fi fie fost iar îi în între la le lor lui mai mă mea
        meu mi ne nici noi nostru nu o ori pe pentru poate pot prin sa sau să se spre sunt și te
        toate un unde une unei unui va voi vor
    """,
    "ru": """
        або але без був буде бути бы был была были быть в вам вас весь во вона вони вот все
        всего всех вы від він где да де для до его ее если есть еще ещё её же за зі и из или
        им их й його к как какая какие какой ко когда кого коли кому котрий кто куда куди ли
        мене меня мені ми мне могу може может можна можно мой мы мій на над надо нам нас наш
        не немає нет ни но нужно ні о об он она они оно от откуда по под почему при про с сам
        своего своей свой себя сколько скільки со стоит та так такое також такой там те тем ти
        то того тоже той только том тот треба тут ты у уже хто це цей ця ці чего чем через чи
        чому что чтобы чья що щоб эта эти это этого этой этом этот я як яка яке який які є із
        їх її
    """,  # noqa: RUF001
    "sv": """
        alla att av är även blev blir där då de dem den deras det detta dig din du efter eller en er
        ett får för från gör han har hon hur i icke in inte jag kan kostar man många måste med men
        mer mig min mitt mot när något några ni och om oss på så sig sin ska som till upp ut utan
        vad var varför varje vart vem vi vid vilka vilken vilket vill
    """,
    "tr": """
        acaba ama ancak bana ben beni bir biz bu bunu çok da daha de değil diye gibi hangi hem her
        için ile kaç kadar kim kime kimdir kimin m\u0131 mi mu mü nas\u0131l ne neden nedir nelerdir
        nerede nereye niye o olan olarak oldu olur onu onun sen siz şu var ve veya ya yok zaman
    """,
}


def _with_plain(listed: str) -> frozenset[str]:
    """Words, and what is typed of them where the keyboard has no accents."""
    return frozenset((*listed.split(), *words(listed)))


FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    DEFAULT: STOP_WORDS,
    **{code: _with_plain(listed) for code, listed in _OTHERS.items()},
}
"""Those of languages that have a stemmer, by its code in ISO 639-1; of Ukrainian and Persian too,
whose words are stemmed as Russian and Arabic ones."""


def told_language(text: str) -> str | None:
    """The language that a text's function words tell; of equals English, then the first.

    One word is too little, "cost per person" is no Italian, and letters are part of much else.

    Args:
        text: a question, or a longer text, whose beginning is looked at.

    Returns:
        A code of :data:`FUNCTION_WORDS`, or None where hardly a word tells it.
    """
    said = {one for one in words(text[:SAMPLE_CHARACTERS]) if len(one) > 1}
    counts = {code: len(own & said) for code, own in FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= MIN_TOLD else None
