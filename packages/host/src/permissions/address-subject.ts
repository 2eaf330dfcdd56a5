import type { Tool } from "@banyan/core";
import { covers, type Rule, type Subject } from "./match.ts";
import { FETCHING, formatRule, isAbout, type Rules, restrainRules } from "./rule.ts";

/**
 * Judges a call on a web address. A pattern is `host` or `host/path`, optionally with `http://` or `https://`. `*` in
 * the host does not extend into the path; without a path the whole host matches. `domain:host` matches any port.
 */
export function addressSubject(tool: Pick<Tool, "name">, url: string): Subject {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  return {
    matches(rule) {
      if (!isAbout(rule, tool)) return "no";
      const { pattern } = rule;
      if (pattern === undefined) return "yes";
      // An unreadable address may still mean something to the tool.
      if (address === undefined) return "perhaps";
      return fitsAddress(pattern, address) ? "yes" : "no";
    },
    allowed(rules) {
      const plain = address !== undefined && address.username === "" && address.password === "";
      return rules.some(
        (rule) => isAbout(rule, tool) && (rule.pattern === undefined || (plain && fitsAddress(rule.pattern, address))),
      );
    },
    suggestion() {
      if (address === undefined || address.host === "") return undefined;
      return formatRule({ tool: tool.name, pattern: `${address.protocol}//${address.host}/*` });
    },
  };
}

/**
 * Returns the reason if rules forbid fetching an address, or undefined. An ask rule also forbids it, unless the rule
 * matches the address `from` that the user approved. A redirect must not bypass the question.
 */
export function whyNotFetched(address: URL, from: URL, { deny, ask }: Rules): string | undefined {
  const speaksOf = ({ href }: URL, rule: Rule) => addressSubject({ name: FETCHING }, href).matches(rule) !== "no";
  const closed = restrainRules(deny).find((rule) => speaksOf(address, rule));
  if (closed) return `The rule '${formatRule(closed)}' forbids fetching ${address.href}.`;
  const open = restrainRules(ask).find((rule) => speaksOf(address, rule) && !speaksOf(from, rule));
  return (
    open &&
    `${from.href} redirects to ${address.href}, and the rule '${formatRule(open)}' requires approval for that address.`
  );
}

function fitsAddress(pattern: string, address: URL): boolean {
  // Claude Code's form: the host alone, with any port.
  const [, domain] = /^domain:(.+)$/.exec(pattern) ?? [];
  if (domain !== undefined)
    return /^https?:$/.test(address.protocol) && covers(sameHost(domain.toLowerCase()), sameHost(address.hostname));
  const [, scheme, host = "", path] = /^(?:([a-z]+):\/\/)?([^/]*)(\/.*)?$/is.exec(pattern) ?? [];
  if (scheme !== undefined ? `${scheme.toLowerCase()}:` !== address.protocol : !/^https?:$/.test(address.protocol))
    return false;
  return (
    covers(sameHost(host.toLowerCase()), sameHost(address.host)) &&
    (path === undefined || covers(samePath(path), samePath(address.pathname + address.search)))
  );
}

/** Decodes escapes that leave the path the same (RFC 3986, 6.2.2.2). */
function samePath(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (code, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
}

/** Removes the optional dot at the end. */
function sameHost(host: string): string {
  return host.replace(/\.(?=(?::[\d*]+)?$)/, "");
}
