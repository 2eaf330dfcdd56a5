/** The phrases of one language for passwords. Patterns are sources of regular expressions with the flags `iu`. */
interface PasswordLanguage {
  /** Names of a secret: a password, or a number of digits. */
  readonly noun: string;
  readonly number: string;
  /** Words between the noun and the verb: "for the router". */
  readonly between: string;
  /** A verb before a value, followed by white space or a colon: "is". */
  readonly verb: string;
  /** Words before a value that looks made up: "changed to". */
  readonly change: string;
  /** Words between a value and its noun: "is my". */
  readonly back: string;
  /** Words that continue a sentence after a value. */
  readonly and: string;
  /** Words that describe a password and are not a value. */
  readonly ordinary: ReadonlySet<string>;
  /** Endings of such words. */
  readonly ending: RegExp;
  /** The letters of a value of plain words. */
  readonly plain: RegExp;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const LATIN = /^[\p{sc=Latin}]{4,}$/u;

const ENGLISH: PasswordLanguage = {
  noun: "(?:pass[- ]?(?:words?|codes?|phrases?)|passwd|pwd|pw|access code|login code|(?:wi-?fi|wlan) key)",
  number: "(?:pin code|pin number|pin)",
  between:
    "\\s+(?:(?:for|of|to|on|at|in|from)\\s+[^.,;:!?\\n]{1,60}?|here|there|everywhere|again|(?:that )?(?:I|we) use(?: [^.,;:!?\\n]{1,40}?)?)",
  verb: "(?:\\s+(?:is|was|are|were|remains|stays|will be|used to be)(?:\\s+(?:now|still|just|currently|simply|the word))?|(?<=(?:set|changed?|reset)\\s(?:my|the|our)\\s[^.,;]{0,30})\\s+to)",
  change: "(?:['’]s|[^.,;:!?\\n]{0,40}?\\s+(?:to|into|as)|,?\\s+(?:I|we)\\s+use)\\s+",
  back: "\\s+(?:(?:is|was)|as|for)\\s+(?:(?:my|the|your|our|his|her|their|a)\\s+)?(?:[\\w-]+\\s+){0,2}",
  and: "and|but|or|so|because|since|for|on|at|now",
  ordinary: words(`
    a about above accepted across after again against ago all almost already also always among an and another any anything are as asked
    at away back bad because before being below best better between blank blue both broken but by can cannot case chosen clear
    cleartext complex correct default despite different down due during each easy either empty enough even every everything false fine fixed
    following for forgotten free from gibberish given gone good green grey hard has here hidden his how if important impossible
    hex inside in incorrect insecure instead into invalid it its just kept known last left less like long longer lowercase lost made mandatory
    mine missing more most my necessary needed neither never new nil no none nope nor not nothing now null obbligatoria obligatoire obligatoria obsolete of off ok
    okay old on once one only onto open optional or orange our out outdated outside over part per pflicht pflichtfeld plain plaintext please possible private public
    purple queer random read ready red required right safe same secret secure since sensitive sent set short shorter shown simple so
    some someone something still stolen string strong stronger stuck such sure temporary text than that the their there these this those through
    to too trivial true undefined unique unknown under unless unsafe unset until up uppercase useless valid very via visible weak weaker what when where
    whether which while white who why with within without worse worst written wrong yellow yes yet your yours`),
  ending: /\p{Ll}{3}(?:ed|ing|ly|able|ible|less|ful|ous|ive|al|ic|ant|ent|ary)$/u,
  plain: /^[\p{L}\p{M}' -]{4,}$/u,
};

const GERMAN: PasswordLanguage = {
  noun: "(?:\\p{L}{0,24}?-?passw(?:ort|örter)|\\p{L}{0,24}?-?kennw(?:ort|örter)|passphrase|zugangscode|losungswort|(?:wlan|wi-?fi)-?schlüssel)",
  number: "(?:pin-nummer|pin|geheimzahl)",
  between:
    "\\s+(?:für|von|vom|zu|zum|zur|des|der|auf|in|im|am|bei|beim|(?:m|d|s)ein(?:er|es)|(?:ihr|unser|eur)(?:er|es))\\s+[^.,;:!?\\n]{1,60}?",
  verb: "\\s+(?:ist|war|sind|bleibt|lautet|lautete|heißt|heisst)(?:\\s+(?:jetzt|immer noch|noch|nun|einfach))?",
  change: "(?:[^.,;:!?\\n]{0,40}?\\s+(?:auf|in|zu)|\\s+(?:benutze|verwende|nehme|nutze)n?\\s+(?:ich|wir))\\s+",
  back: "\\s+(?:ist|war|lautet|als)\\s+(?:(?:mein|dein|das|unser|ihr|sein|die|meine|neues)\\s+)?(?:[\\p{L}-]+[- ]){0,1}",
  and: "und|aber|oder|denn|weil",
  ordinary: words(`
    ab aber abgelaufen alle allen alles als alt am an anders auch auf aus bei bekannt beim bis blau da dasselbe das dein dem den der des
    dieselbe die drin durch ein eine einem einen einer eines einfach ende er erforderlich erst es etwas falsch fort für ganz
    geheim geheimnis geheimsache gelb gleich grün gut hart hier hin ihm ihnen ihr im immer in ins ist ja jedem jeder jetzt kein keine keinem
    klar klartext komplex kurz lang leer leider mehr mein mir mit nach neu nein nicht nichts nie niemand noch notwendig null nun nur
    nötig ok optional pflicht pflichtfeld privat richtig rot schlecht schon schwach schwer sehr sein seit sicher so stark
    streng stumm text uns unser unsinn unter verloren viel vom von vor wahr weg weil wer wie wieder wirklich wo zu zum zur zufall öffentlich über überall`),
  ending: /(?:t|en|bar|lich|ig|isch|los|sam|haft|voll|ell|end|al)$/,
  plain: /^[\p{L}\p{M}' -]{4,}$/u,
};

const SPANISH: PasswordLanguage = {
  noun: "(?:contraseñas?|clave (?:del?|de la|de mi) (?:acceso|banco|correo|cuenta|red|router|servidor|tarjeta|wi-?fi)|mi clave|código de acceso|frase de paso)",
  number: "(?:pin|número secreto)",
  between: "\\s+(?:de|del|para|en)\\s+[^.,;:!?\\n]{1,60}?",
  verb: "\\s+(?:es|era|fue|son|será|sigue siendo)(?:\\s+(?:ahora|todavía|simplemente))?",
  change: "(?:[^.,;:!?\\n]{0,40}?\\s+(?:a|por|en)|\\s+(?:uso|usamos))\\s+",
  back: "\\s+(?:es|era|como)\\s+(?:(?:mi|la|tu|nuestra|su)\\s+)?(?:nueva\\s+)?",
  and: "y|e|pero|o|porque",
  ordinary: words(`
    a al algo anterior aquella así aún bastante buena como con corta correcta cuatro de del desde distinta débil el ella en esa esta
    fuerte fácil igual incorrecta incorrecto insegura inválida la larga las lo los mala mi mía misma mismo muy más nada nueva no
    nuestra nueva nula null nunca numérica otra para parte pero por que rara roja rojo secreta azul amarillo negro blanco secreto segura si siempre simple
    solo sólo su suya también tan temporal texto todo tu un una verde vieja válida única vacía`),
  ending: /(?:ada|ido|ida|ado|oria|orio|ible|able|osa|iva|aria|ario|ica|ente|ecta|ecto|il|al)$/,
  plain: /^[\p{L}\p{M}' -]{4,}$/u,
};

const FRENCH: PasswordLanguage = {
  noun: "(?:mots? de passe|mdp|phrase (?:secrète|de passe)|code d['’]accès|code secret|clé (?:du |de la )?(?:wi-?fi|box))",
  number: "(?:code pin|pin|digicode)",
  between: "\\s+(?:pour|du|des|de|d['’]|sur|dans|au|à)\\s*[^.,;:!?\\n]{1,60}?",
  verb: ",?\\s+(?:est|c['’]est|était|sera|reste|sont)(?:\\s+(?:maintenant|toujours|encore|désormais|simplement))?",
  change: "(?:[^.,;:!?\\n]{0,40}?\\s+(?:en|par|à)|,?\\s+(?:j['’]utilise|nous utilisons|on utilise))\\s+",
  back: "\\s+(?:est|était|c['’]est|comme)\\s+(?:(?:mon|le|ton|notre|votre|son|ma|la|nouveau)\\s+)*",
  and: "et|mais|ou|car|parce|depuis|pour",
  ordinary: words(`
    à absent affiché ailleurs ainsi alors ancien après assez au aucun aussi aux avant avec basé beaucoup bien bleu bon bonne ce celle celui
    ces cet cette changé chez chiffré choisi clair comme complexe compromis connu correct court dans de demandé depuis dernier des différent
    difficile donc du déjà elle en encore enregistré entre envoyé erroné est et exactement expiré facile faible faux fixe fort gris gros généré
    haché identique ici il important impossible inconnu incorrect inscrit inutile invalide jamais jaune juste la le les leur lisible long
    longue lu lui là ma mais mal mauvais mes mien moins mon même ne neuf noir nos notre nouveau nul null obligatoire on optionnel orange ou où
    oublié par partout pas perdu personnel peu plus pour pourquoi prêt privé public périmé quand que quelque qui refusé requis rien rose rouge
    réinitialisé s sa sale sans se secret sensible ses si simple son sont sous stocké sur sûr tel temporaire texte toi ton toujours tous tout
    trop très trivial un une unique valable valide vert vide violet visible volé vos votre vrai vraiment vu vérifié y`),
  ending: /(?:[éi]|ée?s?|able|ible|oire|eux|ant|ent|el|al|if|ive|ique|aire)$/,
  plain: /^[\p{L}\p{M}' -]{4,}$/u,
};

const ITALIAN: PasswordLanguage = {
  noun: "(?:password|passphrase|parola d['’]ordine|codice (?:di |d['’])accesso|codice segreto|frase segreta)",
  number: "(?:codice pin|pin|parola chiave|chiave (?:del |della )?(?:wi-?fi|rete))",
  between: "\\s+(?:per|di|del|dello|della|dell['’]|dei|delle|su|sul|a|al)\\s*[^.,;:!?\\n]{1,60}?",
  verb: "\\s+(?:è|era|sarà|resta|rimane|sono)(?:\\s+(?:ora|adesso|ancora|sempre|semplicemente))?",
  // "in" is an English word too, so a verb must precede the noun.
  change:
    "(?:(?<=(?:cambi|modific|impost|reimpost)\\p{L}+\\s+(?:(?:la|il|mia|tua|nuova)\\s+)*[^\\s]{1,20}(?:\\s[^\\s]{1,20})?)[^.,;:!?\\n]{0,40}?\\s+(?:in|a|su|come)|\\s+(?:uso|usiamo))\\s+",
  back: "\\s+(?:è|era|come)\\s+(?:(?:la|il|mia|tua|nostra|vostra|sua|mio|nuova)\\s+)*",
  and: "e|ed|ma|o|perché|poi|per",
  // "Password" is an English word too.
  ordinary: words(`${[...ENGLISH.ordinary].join(" ")}
    a abbastanza ai al alla altrove anche ancora appena assai bella bene bianca blu breve buona che chiara chiaro chiusa come comune con
    corretta corta così cosa da dal dalla dei del della delle di dimenticata diversa dopo dove due e errata facile falsa forte già giusta gli
    gialla grande grigia i identica il in incerta inutile io l la le lei lo lontana lui lunga ma mai mancante meglio meno mia mio molto nel
    nella nera nessuna niente noi non nostra nota nulla null nuova o obsoleta ogni ok oltre ora ovunque per perché perfetta persa più poco
    poi porta pronta prima privata pubblica qualcosa quella quello questa qui quindi rara rosa rossa rotta sbagliata scaduta se segreta
    sempre senza sicura simile si solo sopra sotto stata stessa sua sul sulla tale tanto te testo tra troppo tua tuo tutta tutto un una unica
    uguale vecchia verde vera via vicina viola vostra vuota`),
  ending: new RegExp(
    `${ENGLISH.ending.source}|(?:[aiu]t[aoie]|[ei]s[ao]|ori[ao]|[ai]bile|os[ao]|iv[ao]|ari[ao]|ic[ao]|ente|ante|ale|ile|ess[ao])$`,
    "u",
  ),
  plain: /^[\p{L}\p{M}' -]{4,}$/u,
};

const JAPANESE: PasswordLanguage = {
  noun: "(?:パスワード|パスコード|パスフレーズ|合言葉|合い言葉)",
  number: "(?:暗証番号|PIN(?:コード|番号)?)",
  between: "の[^。、\\n]{1,20}?",
  verb: "\\s*(?:は|が)、?",
  change: "\\s*を\\s*",
  back: "\\s*(?:が|は|を|という)\\s*(?:(?:私|僕|俺|あなた|彼|彼女)の)?(?:[\\p{L}-]{1,12}の)?",
  and: "です|だ|でした|になり|にし|に変|に設|と",
  ordinary: words("null none true false"),
  ending: /$^/,
  plain: LATIN,
};

const CHINESE: PasswordLanguage = {
  noun: "(?:密码|密碼|口令|通行码|通行碼)",
  number: "(?:PIN码|PIN碼|PIN)",
  between: "的[^。，\\n]{1,20}?",
  verb: "\\s*(?:(?:还|還)?就?是|为|為|叫|我们?用(?:的是)?)",
  change: "\\s*(?:改成了?|改为|改為|设为|設為|设成|設成|设置为|設置為)\\s*",
  back: "\\s*(?:就?是|作为|作為)\\s*(?:(?:我|你|他|她|我们|咱们)的?)?(?:\\p{Script=Han}{1,8})??",
  and: "吗|呢|吧",
  ordinary: words("null none true false"),
  ending: /$^/,
  plain: LATIN,
};

const ARABIC: PasswordLanguage = {
  noun: "(?:ك?كلم[ةه] (?:ال)?(?:سر|مرور)(?:ي|ك|نا|ه|ها)?|رمز (?:ال)?(?:دخول|مرور)|(?:ال)?باسوو?رد)",
  number: "(?:الرقم السري|رقمي السري|رقم سري)",
  between: "\\s+(?:ال|ل|في|على)[^.,;:!?،؛؟\\n]{1,60}?",
  verb: "\\s+(?:(?:ما زال(?:ت)?|لا (?:ت|ي)زال)(?: هي| هو)?|هي|هو|كانت|كان)",
  change: "[^.,;:!?،؛؟\\n]{0,40}?\\s+(?:إلى|الى)\\s+",
  back: "\\s+(?:(?:هي|هو)\\s+)?",
  and: "و|لكن|ثم",
  ordinary: words("null none true false"),
  ending: /$^/,
  plain: LATIN,
};

const LANGUAGES = [ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN, JAPANESE, CHINESE, ARABIC];

const QUOTATION = `["'\`“”„«「『‘‚]\\s?([^"'\`“”„»「」『』’‘\\s][^"'\`“”„»「」『』’‘\\n]{0,79}?)\\s?["'\`“”»」』’‘]`;
const QUOTED = new RegExp(QUOTATION, "dy");
const QUOTED_BEFORE = new RegExp(`${QUOTATION}$`, "d");
/** A value without spaces. In scripts without spaces: Latin letters, digits and signs. */
const TOKEN = /[^\s"'`“”„«»「」『』，。、；：！？،؛؟;,<>[\]{}()\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{3,100}/uy;
/** A whole clause, after a verb with a colon. */
const CLAUSE = /[^.,;:!?，。、；：！？،؛؟()\n"'`“”„«»「」『』]{4,100}/uy;
/** A user name with a password, as in "admin/Winter#77". A path ends in a file name instead. */
const LOGIN = "login|log-in|credentials|zugangsdaten|anmeldedaten|identifiants|credenciales|credenziali";
const PAIR = /^([^/:]{2,40}[/:])([^/:]{4,60})$/;
const FILE_NAME = /\.\p{L}{1,4}$/u;
const PHRASE = /\p{L}+(?: \p{L}+){2,7}/uy;
/** The end of a clause, after a value. */
const CLAUSE_END = /\s*(?:[.!?,;，。、；！？،؛؟)\n]|$)/uy;
const LABEL = /["'`]?\s{0,4}(?:[:=：]|=>)\s{0,4}/uy;
const BESIDE = /\s{0,4}/y;
const BEFORE = /([^\s"'`“”„«»「」『』，。、；：！？،؛؟;,<>[\]{}()\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{4,100})$/du;

/** Names of methods and programs in the place of a value. */
const NAME_OF_METHOD =
  /^(?:base\W?\d+|sha\W?\d\S*|md\d|aes\S*|rsa\S*|utf\W?\d+|argon2\S*|bcrypt|scrypt|pbkdf2|hex|oauth\d?|2fa|1password|keepass\S*)$/iu;
const CODE = /^[A-Z][A-Z\d]*_[A-Z\d_]+$|^[$%~/\\#*]|[(){}]|\*{3}|:\/\/|^[\p{L}_]+(?:\.[\p{L}_]+)+$|\.{3}|…/u;

interface PasswordSpan {
  readonly start: number;
  readonly end: number;
}

/** The certainty that the words before a value announce a password. */
type PasswordCertainty = "says" | "made-up";

/** A Latin noun ends before another letter; a Chinese or Japanese noun may have any neighbour. */
const NOUN_END = "(?:(?<=\\p{sc=Latin})(?![\\p{sc=Latin}\\d_])|(?<!\\p{sc=Latin})(?!\\p{sc=Arabic}))";

const EXPRESSIONS = LANGUAGES.map((language) => {
  const { noun, number, between, verb, change, back, and } = language;
  const expression = (source: string, flags: string) => new RegExp(source, `${flags}iu`);
  return {
    language,
    // Letters of scripts without spaces may be adjacent to the noun.
    nouns: expression(`(?<![\\p{sc=Latin}\\d_])(?:(?<number>${number})|(?<login>${LOGIN})|${noun})${NOUN_END}`, "g"),
    announces: expression(`(?:${between})?${verb}\\s*[:：]\\s*`, "y"),
    says: expression(`(?:${between})?${verb}(?:\\s+|(?<=[\\p{sc=Han}\\p{sc=Hiragana}、])\\s*)`, "y"),
    changes: expression(change, "y"),
    back: expression(`${back}$`, ""),
    continues: expression(`\\s*(?:${and})(?!\\p{sc=Latin})`, "y"),
  };
});
type Expressions = (typeof EXPRESSIONS)[number];

/**
 * Removes passwords that a text states in words, such as "My password is swordfish." A value is a quotation or looks
 * made up. After "is" or a colon, a value can also be plain words, unless they describe a password ("is wrong"). Use
 * this on texts that other conversations can get, after the host's redaction (S45).
 */
export function withoutSpokenPasswords(text: string): string {
  const found = EXPRESSIONS.flatMap((expressions) => spansIn(text, expressions)).sort((a, b) => a.start - b.start);
  let kept = "";
  let at = 0;
  for (const { start, end } of found) {
    if (start < at) continue;
    kept += `${text.slice(at, start)}[password]`;
    at = end;
  }
  return kept + text.slice(at);
}

function spansIn(text: string, expressions: Expressions): PasswordSpan[] {
  const { nouns, announces, says, changes, back } = expressions;
  return Array.from(text.matchAll(nouns)).flatMap((match): readonly PasswordSpan[] => {
    const end = match.index + match[0].length;
    const { number, login } = match.groups ?? {};
    const trust = number === undefined && login === undefined ? "says" : "made-up";
    const announced = trust === "says" ? clauseAfter(text, end, expressions) : undefined;
    const said =
      announced ??
      valueAfter(text, end, LABEL, trust, expressions) ??
      valueAfter(text, end, announces, trust, expressions) ??
      valueAfter(text, end, says, trust, expressions) ??
      valueAfter(text, end, BESIDE, "made-up", expressions) ??
      valueAfter(text, end, changes, "made-up", expressions);
    if (login !== undefined) return said ? secretOfPair(text, said, expressions) : [];
    if (said) return [said];
    const before = text.slice(Math.max(0, match.index - 160), match.index);
    const link = back.exec(before);
    return link ? valueBefore(before.slice(0, link.index), match.index - before.length, expressions) : [];
  });
}

/** The value before a noun: a quotation, or a text that looks made up. */
function valueBefore(before: string, offset: number, expressions: Expressions): readonly PasswordSpan[] {
  const quoted = QUOTED_BEFORE.exec(before)?.indices?.[1];
  const [start, end] = quoted ?? BEFORE.exec(before)?.indices?.[1] ?? [0, 0];
  const value = before.slice(start, end);
  const isValue = looksMadeUp(value, expressions) || (quoted && /\s/.test(value) && !isOrdinary(value, expressions));
  return isValue ? [{ start: offset + start, end: offset + end }] : [];
}

/** A clause of plain words after "is:", which announces the value. */
function clauseAfter(text: string, at: number, expressions: Expressions): PasswordSpan | undefined {
  const start = matchEnd(expressions.announces, text, at);
  if (start === undefined) return undefined;
  const clause = matchAt(CLAUSE, text, start)?.[0].trimEnd() ?? "";
  const [first = "", ...others] = clause.split(" ");
  const isValue = others.length > 0 && /^[\p{L}\p{M} ]+$/u.test(clause) && !isOrdinary(first, expressions);
  return isValue ? { start, end: start + clause.length } : undefined;
}

function secretOfPair(text: string, { start, end }: PasswordSpan, expressions: Expressions): readonly PasswordSpan[] {
  const [, user = "", secret = ""] = PAIR.exec(text.slice(start, end)) ?? [];
  return looksMadeUp(secret, expressions) && !FILE_NAME.test(secret) ? [{ start: start + user.length, end }] : [];
}

function valueAfter(
  text: string,
  at: number,
  link: RegExp,
  trust: PasswordCertainty,
  expressions: Expressions,
): PasswordSpan | undefined {
  const start = matchEnd(link, text, at);
  if (start === undefined) return undefined;
  const quoted = matchAt(QUOTED, text, start)?.indices?.[1];
  if (quoted && (link !== BESIDE || start > at))
    return isOrdinary(text.slice(...quoted), expressions) ? undefined : { start: quoted[0], end: quoted[1] };
  // An exclamation mark may be the end of a password.
  const token = matchAt(TOKEN, text, start)?.[0].replace(/[.?:]+$/u, "") ?? "";
  if (looksMadeUp(token, expressions)) return { start, end: start + token.length };
  if (trust !== "says") return undefined;
  for (const value of [matchAt(PHRASE, text, start)?.[0] ?? "", token.replace(/!+$/, "")]) {
    const [first = "", ...others] = value.split(" ");
    // "correct horse battery staple": the first of four words may be an ordinary word.
    const isValue =
      expressions.language.plain.test(value) &&
      ((others.length > 2 && first.length > 4) || !isOrdinary(first, expressions)) &&
      !others.some((word) => isOrdinary(word, expressions));
    const end = start + value.length;
    const isWhole =
      matchEnd(CLAUSE_END, text, end) !== undefined || matchEnd(expressions.continues, text, end) !== undefined;
    if (isValue && isWhole) return { start, end };
  }
  return undefined;
}

/** Returns whether a text looks like a made-up password, and not like a word, a quantity or code. */
function looksMadeUp(token: string, expressions: Expressions): boolean {
  if (token.length < 4 || CODE.test(token) || NAME_OF_METHOD.test(token)) return false;
  if (/^\p{Nd}+$/u.test(token)) return true;
  const hasLetter = /\p{L}/u.test(token);
  const hasOther = /\p{Nd}/u.test(token) || /[!@#$%^&*+=~?_]/.test(token);
  const parts = token.split("-");
  if (hasLetter && hasOther) return !/^\d+-\p{Ll}+$/u.test(token);
  const isMadeOfWords = parts.length > 2 && !parts.some((part) => part.length < 3 || isOrdinary(part, expressions));
  return isMadeOfWords || (hasLetter && /\p{Ll}\p{Lu}/u.test(token));
}

function isOrdinary(word: string, { language: { ordinary, ending } }: Expressions): boolean {
  const small = word.toLowerCase();
  return ordinary.has(small) || NAME_OF_METHOD.test(word) || (/^\p{Ll}+$/u.test(word) && ending.test(word));
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

function matchEnd(expression: RegExp, text: string, at: number): number | undefined {
  const match = matchAt(expression, text, at);
  return match ? at + match[0].length : undefined;
}
