/**
 * The rule for ids that `isId` checks, as a text for error messages.
 * @example if (!isId("a\nb")) console.log(`An id has ${ID_RULE}.`);
 */
export const ID_RULE = '1 to 128 characters, no control characters, and not "." or ".."';

/**
 * The rule of `isId` for programs in other languages, by code points (`u` in JavaScript), without the pairing of
 * surrogates. `.` and `..` are excluded because browsers and proxies drop them from addresses.
 * @example ID_PATTERN.test("garden-1") // true
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that no id has.
export const ID_PATTERN: RegExp = /^(?!\.{1,2}$)[^\x00-\x1f\x7f-\x9f]{1,128}$/u;

/**
 * True if a text can be the id of a conversation, message, run or command. An id has 1 to 128 code points of
 * well-formed Unicode, no control characters (U+0000 to U+001F, U+007F to U+009F), and is neither `.` nor `..`. Upper
 * and lower case differ, and so do different encodings of accents.
 * @example if (!isId("order-7")) throw new Error("This id cannot name a conversation.");
 */
export function isId(text: unknown): text is string {
  return typeof text === "string" && ID_PATTERN.test(text) && text.isWellFormed();
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Encodes an id as a segment of a page address. Letters, digits, `_`, `.` and `-` stay. Each byte of any other
 * character in UTF-8 becomes `~` and two hexadecimal digits. Browsers and the clipboard may change other characters.
 * @example idToAddress("my garden") // "my~20garden"
 */
export function idToAddress(id: string): string {
  return encodeURIComponent(id)
    .replaceAll(/[~!*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%", "~");
}

/**
 * Decodes an id from a segment of a page address. Returns nothing for an invalid segment.
 * @example idInAddress("my~20garden") // "my garden"
 */
export function idInAddress(piece: string): string | undefined {
  try {
    return decodeURIComponent(
      decodeURIComponent(piece)
        .replaceAll("%", "%25")
        .replaceAll(/~(?=[0-9A-F]{2})/gi, "%"),
    );
  } catch {
    return undefined;
  }
}

function base32(value: number, digits: number): string {
  let out = "";
  for (let rest = value; out.length < digits; rest = Math.floor(rest / 32)) {
    out = ALPHABET[rest % 32] + out;
  }
  return out;
}

/** Creates a source of ids. Each source has its own random tail, so sources need no coordination. */
export function idSource(now: () => number = Date.now): () => string {
  // Created with the first id, because Node loads its cryptography only then.
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
    // A clock that goes backwards must not produce an id that sorts before an earlier id.
    if (current > time) {
      time = current;
      prefix = base32(time, 9);
      count = 0;
    }
    // `+` would keep the pieces in memory, as long as the id.
    return [prefix, base32(count++, 5), tail].join("");
  };
}

/**
 * Returns a new id of 26 characters in Crockford's base 32. Ids sort by creation time: exactly within a process, and to
 * the millisecond across processes. They are unique without coordination (60 random bits per process).
 * @example await agent.send("Hello", { session: Session.inMemory(), id: createId() });
 */
export const createId: () => string = idSource();
