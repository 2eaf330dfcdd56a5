const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

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
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const tail = Array.from(bytes, (byte) => ALPHABET[byte & 31]).join("");
  let time = 0;
  let prefix = "";
  let count = 0;
  return () => {
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
