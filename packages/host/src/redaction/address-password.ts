import type { Span } from "./span.ts";

const SCHEME = /[A-Za-z][A-Za-z0-9+.-]{1,30}$/;
const USER_INFO = /([^\s:/?#@"'`<>]{0,256}):([^\s/?#@"'`<>]{3,512})@(?=[^\s@])/y;

/** What stands in examples, and for something else. */
const STAND_IN =
  /^(?:pass|passwd|password|pwd|secret|token|user|username|root|admin|guest|test|example|changeme|postgres|mysql|x+|\*+|\.+)$|\$\{|\{\{|^[$%{[<]/i;

/** The passwords of addresses with a user's name, as in `postgres://app:...@db/app`. */
export function addressPasswords(text: string): Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    if (!SCHEME.test(text.slice(Math.max(0, at - 31), at))) continue;
    USER_INFO.lastIndex = at + 3;
    const match = USER_INFO.exec(text);
    if (!match) continue;
    const [whole, user = "", password = ""] = match;
    const start = at + 3 + user.length + 1;
    // In this form of GitHub's the name is the token.
    if (password === "x-oauth-basic")
      found.push({ start: at + 3, end: at + 3 + whole.length - 1, kind: "github-token" });
    else if (!STAND_IN.test(password)) found.push({ start, end: start + password.length, kind: "password" });
  }
  return found;
}
