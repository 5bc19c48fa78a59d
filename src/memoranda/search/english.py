"""What English needs beyond stemming: words a query can spare, and forms that no suffix rule joins."""

from typing import Final

_STOP_WORDS: Final = """
a about after all also am an and any are as at be because been being between both but by
can could did do does doing during each either else etc few for from further get gets got
had has have having he her here hers herself him himself his how i if in into is it its itself
just me might more most much must my myself no nor not now of off on once only or other our
ours ourselves out over own same shall she should so some such than that the their theirs them
themselves then there these they this those through to too under until up upon us very was we
were what when where which while who whom whose why will with would you your yours yourself
yourselves
can't couldn't didn't doesn't don't hadn't hasn't haven't isn't aren't shouldn't wasn't weren't
won't wouldn't i'd i'll i'm i've we'd we'll we're we've you'd you'll you're you've they'd
they'll they're they've he'd he'll she'd she'll it'd it'll that'd that'll who'd who'll
"""

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Left out of queries, never out of the index. "may" is not here: it is a month too."""

# A base form, then the irregular forms that mean it. One row for each word.
_IRREGULAR: Final = """
arise arose arisen|awake awoke awoken|be am is are was were been|bear bore borne|beat beaten
become became|begin began begun|bend bent|bind bound|bite bit bitten|bleed bled
blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought
catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug
do did done does|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung|have had has|hear heard
hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant
leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|make made|mean meant|meet met
pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown
shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|speed sped|spend spent|spill spilt|spin spun|spoil spoilt|spring sprang sprung
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|strive strove striven
swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken
teach taught|tear tore torn|tell told|think thought|throw threw thrown|understand understood
undergo underwent undergone|wake woke woken|wear wore worn|weave wove woven|weep wept|win won
wind wound|write wrote written
child children|person people|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese
life lives|wife wives|knife knives|leaf leaves|shelf shelves|half halves|wolf wolves|loaf loaves
thief thieves|calf calves
"""

IRREGULAR_FORMS: Final = {
    form: base
    for row in _IRREGULAR.replace("\n", "|").split("|")
    if row
    for base, *forms in [row.split()]
    for form in forms
}
"""An irregular form to its base form: "went" and "gone" are found by "go"."""
