/** What `isId` asks for, as a program is told it. */
export const ID_RULE = "1 to 128 characters, none of them a control character, and neither . nor ..";

/**
 * What `isId` asks for, but that surrogates come in pairs: a regular expression that other languages read alike, with the flag
 * for whole characters (`u` in JavaScript). No address has a segment `.` or `..`: browsers and proxies take them away.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that no id has.
export const ID_PATTERN: RegExp = /^(?!\.{1,2}$)[^\x00-\x1f\x7f-\x9f]{1,128}$/u;

/**
 * Whether a text can be the id of something that a program names: of a conversation, a message, a run, a command. Any can,
 * of 1 to 128 characters (code points), that is well-formed Unicode, holds no control character (U+0000 to U+001F, U+007F
 * to U+009F), and is neither `.` nor `..`. Two ids are the same when every character is: case counts, and so does the form in
 * which an accent is written.
 */
export function isId(text: unknown): text is string {
  return typeof text === "string" && ID_PATTERN.test(text) && text.isWellFormed();
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * An id as a piece of an address of the page: letters, digits, `_`, `.` and `-` stand for themselves, and each other byte of its
 * UTF-8 is `~` and two hexadecimal digits. Browsers, and what people paste addresses into, change other characters.
 */
export function pieceOfAddress(id: string): string {
  return encodeURIComponent(id)
    .replaceAll(/[~!*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%", "~");
}

/** The id in a piece of an address; nothing when it is none, as after a slip of the hand. */
export function idInAddress(piece: string): string | undefined {
  try {
    return decodeURIComponent(
      decodeURIComponent(piece)
        .replaceAll("%", "%25")
        .replaceAll(/~(?=[0-9A-F]{2})/gi, "%"),
    );
  } catch {
    // What stands there are bytes of no character.
    return undefined;
  }
}

/** Writes the low `digits` base-32 digits of a non-negative integer, most significant first. */
function base32(value: number, digits: number): string {
  let out = "";
  for (let rest = value; out.length < digits; rest = Math.floor(rest / 32)) {
    out = ALPHABET[rest % 32] + out;
  }
  return out;
}

/** A source of ids; each source has its own random tail, so that two of them need not know of each other. */
export function idSource(now: () => number = Date.now): () => string {
  // Drawn for the first id: Node loads its cryptography only then.
  let tail = "";
  let time = 0;
  let prefix = "";
  let count = 0;
  return () => {
    if (tail === "") {
      const bytes = crypto.getRandomValues(new Uint8Array(12));
      tail = Array.from(bytes, (byte) => ALPHABET[byte & 31]).join("");
    }
    const current = now();
    // A clock that goes backwards must not produce an id that sorts before an earlier one.
    if (current > time) {
      time = current;
      prefix = base32(time, 9);
      count = 0;
    }
    return prefix + base32(count++, 5) + tail;
  };
}

/**
 * A new id: 26 characters of Crockford's base 32, sortable by time of creation within a process and, to the
 * millisecond, across processes; unique without coordination (60 random bits for each source).
 */
export const createId: () => string = idSource();
