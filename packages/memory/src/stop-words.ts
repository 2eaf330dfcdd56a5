const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** The least informative words of each language with spaces. */
const SPACED: readonly ReadonlySet<string>[] = [
  // English
  words(`a about after again all also am an and any are as at be because been before being but by can could d did do does
    doing don down each even few for from get give go had has have having he her here hers him his how i if in into is it its
    just let like ll m make me more most my no nor not now of off on once only or other our out over own please re s same she
    should show so some such t tell than that the their them then there these they this those through to too under until up us
    ve very was we were what when where which while who whom why will with would yes you your`),
  // German
  words(`aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus bei bin bis bist bitte da
    damit dann das dass dasselbe dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du
    durch ein eine einem einen einer eines er es etwas euch für gegen gewesen hab habe haben hat hatte hatten hier hin ich ihm
    ihn ihnen ihr ihre im in ins ist ja jede jeder jedes jetzt kann kannst kein keine können mach machen mal man mehr mein meine
    meinem meinen meiner mich mir mit muss nach nein nicht nichts noch nun nur ob oder ohne sag schon sehr sein seine sich sie
    sind so soll sollen sollte um und uns unser unsere unter vom von vor wann war waren warum was weil welche welcher welches
    wenn wer werden wie wieder will wir wird wo wollte worden wurde zu zum zur über`),
  // Spanish
  words(`a al algo algunas algunos ante antes aquel aunque cada como con contra cual cuando cuál cuándo cómo de del desde donde
    dónde dos e el ella ellas ellos en entre era eran eres es esa ese eso esta estaba estas este esto estos está están fue fueron
    ha hace hacer hasta hay haz la las le les lo los me mi mis mucho muy más nada ni no nos nosotros nuestra nuestro o os otra
    otro para pero poco por porque puede puedo pues que quien quién qué se sea ser si sin sobre solo son soy su sus sí también
    tan te tengo tiene todo todos tu tus un una uno unos y ya yo él`),
  // French
  words(`ai as au aussi autre aux avec avez avoir avons c ce cela ces cet cette comme comment d dans de des dit dois doit donc du
    elle elles en est et eu faire fais fait il ils j je l la le les leur leurs lui là m ma mais me mes moi mon même n ne nos
    notre nous on ont ou où par pas peu peut peux plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se
    ses si son sont sous suis sur t ta te tes toi ton tout tous très tu un une va vos votre vous y à été être`),
  // Arabic
  words(`أن أنا أنت أو أي أين إلى إن إنه التي الذي الذين الشيء الى ان انا او بعد بعض بل بين تلك تم ثم حتى حيث دون ذلك سوف عن عند على
    غير فقط في قبل قد كان كانت كل كم كما كيف لا لأن لقد لك لكن لم لماذا لن له لها لي ليس ما ماذا متى مع من منذ نحن هذا هذه هل هم هنا
    هناك هو هي و وهو وهي يا يكون`),
];

const CHINESE = [
  ..."什么 怎么 怎样 为什么 我们 你们 他们 她们 咱们 自己 可以 能不能 是不是 有没有 这个 那个 这些 那些 这里 那里 哪里 哪个 一个 一下 请问".split(
    " ",
  ),
  ..."没有 就是 还是 但是 因为 所以 如果 已经 现在 应该 需要 的 吗 呢 吧 啊".split(" "),
];
const JAPANESE = [
  ..."どうすれば いいですか いいですかね ください でしょうか でしょう でした ました ません ですか ですね です ます なぜ どうして".split(
    " ",
  ),
  ..."どこ どの どれ いつ この その あの これ それ あれ ここ そこ こと もの について という している してい した する して から まで".split(
    " ",
  ),
  ..."ある いる ない なに 何".split(" "),
];

/** Longer words first, so that a shorter word does not match their beginning. */
function anyOf(known: readonly string[]): string {
  return known.toSorted((a, b) => b.length - a.length).join("|");
}

const KANA = /[\p{sc=Hiragana}\p{sc=Katakana}]/u;
const IN_CHINESE = new RegExp(anyOf(CHINESE), "gu");
/** Particles only count after characters that are not used in particles. */
const IN_JAPANESE = new RegExp(`${anyOf(JAPANESE)}|(?<=[\\p{sc=Han}\\p{sc=Katakana}])[はがをにのでともへか]`, "gu");

/**
 * Returns the stop words of the query's language: the language with the most stop words in the query, or else English.
 * A stop word of one language may have a meaning in another, such as German "die" in English.
 */
export function stopWordsOf(query: readonly string[]): ReadonlySet<string> {
  const counts = SPACED.map((known) => query.filter((word) => known.has(word)).length);
  return SPACED[counts.indexOf(Math.max(...counts))] ?? new Set();
}

/** Removes stop words from text in a script without spaces between words. Returns the remaining pieces. */
export function withoutStopWords(run: string): string[] {
  return run.split(KANA.test(run) ? IN_JAPANESE : IN_CHINESE).filter((part) => part !== "");
}
