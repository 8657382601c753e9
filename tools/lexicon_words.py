"""Words set by hand for tools/lexicon.py: what counts as a name, what is an everyday word, what stays in or out."""

# ruff: noqa: SIM905 - words in a text can be read and sorted by people

from __future__ import annotations

NAMES = """
john mary james robert michael william david richard joseph thomas charles george smith jones brown johnson williams
davis miller wilson anderson taylor london paris berlin england france germany italy spain china japan india russia
australia canada california texas florida chicago boston york washington virginia ohio michigan peter paul anna maria
elizabeth margaret susan karen nancy lisa scott henry edward frank jack martin simon stephen andrew kevin brian daniel
matthew anthony donald european american british french german italian spanish chinese japanese indian russian canadian
australian africa asia europe oxford cambridge harvard microsoft google sony nfl bbc nba ufc nasa et al von der de la el
di ii iii ncaa uefa fifa st dr wales scotland ireland norway sweden denmark finland poland ukraine turkey iran iraq
israel egypt mexico brazil chile peru cuba vietnam korea pakistan nepal hindu islam muslim christian jesus wright lewis
walker allen
""".split()
"""Names of people, places, peoples, firms, and abbreviations: what the filter learns to leave out."""

COMMON = """
cat dog house tree water milk bread eat drink run walk sit sleep warm cold hot big small red blue green white black
yellow brown happy sad good bad man woman boy girl child mother father friend book read write school teacher student
doctor nurse car road city river bank money buy sell give take make see look hear hand eye head foot heart food fruit
apple table chair door window bed room night day morning summer winter rain snow wind fire earth sky sun moon star sea
ship king queen prince war peace love hate fear hope think know say tell ask answer question word story song music dance
game ball win lose fast slow high low long short old new young early late because but and or if when where who what why
how very too also never always often the of in on under over between through after before with without by for from to at
one two three ten hundred first last many few some all each every animal bird fish horse cow sheep lion soup chef cook
taste salt sugar tool machine engine wheel plane fly pilot land trophy suitcase bag box letter paper pen color paint
picture film play stage market price work job office boss paid light dark deep wide strong weak hard soft true false
right wrong open close begin end grow fall break build push pull throw catch
""".split()
"""Words that are no names: what the filter learns to keep."""

EVERYDAY = """
cat dog kitten puppy horse cow pig sheep mouse bird fish lion tiger bear rabbit snake frog bee spider mat rug carpet
chair table bed pillow blanket lamp window door kitchen spoon fork knife plate cup bowl bottle bread butter cheese milk
egg soup cake apple banana orange lemon grape tomato potato onion rice sugar salt pepper tea coffee juice shirt shoe hat
coat dress pants glove scarf rain snow wind storm cloud sun moon star tree leaf flower grass river lake sea beach
hill forest boat ship plane train bus bike car truck road bridge ball toy doll kite paint brush pencil paper book letter
box bag suitcase basket hammer nail saw rope ladder bucket soap towel mirror clock phone king queen prince
princess witch wizard giant dragon baby boy girl mother father aunt uncle teacher doctor nurse farmer baker chef pilot
sailor soldier happy sad angry afraid tired hungry hot cold warm wet dry clean dirty soft hard sweet sour bright
dark loud quiet fast slow big small tall short run walk jump swim fly climb sit stand sleep eat drink cook wash sing
dance laugh cry smile whisper shout throw catch kick push pull read write
""".split()
"""The words that the rarer words of the list are to be near to."""

KEEP = """
a i an am as at be by do go he if in is it me my no of on or so to up us we the who may city state university national
north south east west area county church college former century population president order himself themselves herself
member members football law history country department hall television royal radio language player director museum
minister week railway tour team teams myself yourself coach province award hospital study studies academy large
largest mark magazine professor sat hill officer stone group groups federal tournament independent awards saint
theatre whose capital degree bay senior valley source native producer opera film channel films author whom shook
secretary airport navy singer culture individual location famous hotel company companies parliament engineering policy
stadium actor assistant bishop empire religion religious library foreign cast doctor match matches junior fellow beach
rural mile soldier soldiers editor family nations tribe nation judge creek duke mayor expression removed article
campus officers emperor politician newspaper conditions lieutenant races issued picked elections hockey settled drew
actress residents founder gallery industrial urban visit search grant owner candidate mountains agency pick ray
leaders palace formation chosen sources jazz concert sciences colonel bell politics freedom heritage interview guest
music musician poet fox bronze citizen citizens attacks grace cemetery cricket composer injury bowl graduate passenger
sharp rank publishing hills wolf soccer visited identity address offices lion poets wrestling employed towns bureau
cape presidential guards architect fighter gene chapel mill turkey knight survey wedding recognition cathedral poem
bachelor personnel retirement banks tennis ceremony decades employees lawyer institution stream rush rivers
consecutive translation documents accused desert universities constituency cousin economics owners translated
conservation grandfather grandmother replace colony visitors aviation measures racial scholars rice speaker prisoners
script admiral cinema guitarist electrical peninsula songwriter heaven retained qualifying hat agents frequency gulf
industries markets charts monument oak connecticut networks voiced engineers symphony cooper statue critic commerce
baker emily scholar detective resident coverage uniform monastery triple warriors merchant injuries sheriff jury bears
athletics infrastructure territories asylum scientists scientist citizenship exam test garage saints youngest shares
decline eagle eagles judges tourism tourist tourists civilian overseas descent substantial regime researchers delivery
enterprise text texts telephone liberty angels drummer released residing pioneer rangers sufficient viewers punk lions
giants magazines fighters reed chancellor knights reduction origins settlers maps scout radical speakers festivals
immigration physician sandy isaac hart interstate organic climate suburb athletes globe inn airlines suite interviews
departments scores acquisition reception resource tenant territory taxes ministers ivy dependent clerk shipping
coaches drake historians camps prime everybody cancelled renaissance vocalist gospel mathematical photographer cruise
efficiency anchor tomb vary electronics architects banking certificate customs pilots veterans sin raced athlete
somebody biography hospitals specialist integration pirates colonies boxing earthquake eyebrows hamlet rebels ruins
temples rebel newton singers boulevard invitation depot rod chambers circus creator wolves marathon queens colleagues
cameras priests missionary neutral refugees archive disorder moderate libraries stationed essex elbow fever celebrity
bride relatives booth pianist cherry holder criteria rivals flags performer journals casino hotels suburban civilians
dialect clinic optical surgeon scandal eager lawyers accent performers philosopher conscious olive graves warehouse
mortal tucker violin trustees deny airports museums novelist monks continent comedian raven travis telegraph casual
presenter glacier rainfall scouts beard sculptor arctic treasurer monte doctorate geological bats nurse witnesses
accounts authors actors attorney queen princess nicknamed thursday tuesday wednesday monday friday saturday sunday
january february march april june july august september october november december gown apron crow crimson deputy
cowboy cowboys commander soprano maiden freshman manners wheat berry carpenter explorer poles skilled freed secular
penny modest homeland ancestors researcher pollution contestant countryside daisy rose disorders summers primitive
prairie seeks suits hymn duchess salon thames rulers diplomat makers supernatural miners designers translator uniforms
beloved herman physicians orient oriental statues medals playwright clergy colleague prophet surname webster
missionaries websites adviser piper willow jade cubs alphabet enable newspapers drivers artist nobody disco pageant
kidding natives convention rockets riverside aisle arrest cousins inventor celebrities teddy pastor rapper emerald
scarlet gardener graph dull dig sip buddha aliens stint sting accommodation expressway sandstone laurel stella
economist doctors engineer medicine pope christmas easter buffalo dolphin robin lily pearl tom bible prisoner priest
mountain island islands lake river ocean rocky plateau canyon pacific
""".split()
"""Words that the filter would leave out."""

DROP = """
shit fuck fucking bitch bastard ass damn crap piss pissed bullshit cock sex sexual sexy nipple naked nude aroused
thigh thighs butt panties bra underwear dumb virgin sucking sucks savage gonna gotta wanna kinda soo gmina freyja didn
don couldn wouldn shouldn hadn wasn weren isn aren doesn ain mph mae belgarath tad pee sperm suv colored coloured
""".split()
"""Words that the filter would let through: coarse ones, which have no place in a school, and parts of words."""

FUNCTION = """
a about above across after again against all along also although always am among an and another any are around as at
away be because been before behind being below between both but by can cannot could did do does doing done down during
each either else enough even ever every few for from had has have having he her here hers herself him himself his
how however i if in indeed into is it its itself just least less many may maybe me might mine more most much must my
myself near neither never no nor not now of off often on once one only onto or other others our ours ourselves out over
own per perhaps quite rather same shall she should since so some somehow something such than that the their theirs them
themselves then there these they this those though through throughout thus to together too toward towards under unless
until up upon us very was we well were what whatever when where whether which while who whom whose why will with within
without would yet you your yours yourself
""".split()
"""Words that serve grammar; what they have in common says nothing of meaning."""
