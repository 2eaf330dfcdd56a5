import type { Tool } from "@banyan/core";
import { covers } from "./match.ts";
import { FETCHING, formatRule, isAbout, type Rule, type Rules, restrained } from "./rule.ts";
import type { Subject } from "./subject.ts";

/**
 * A call whose main argument is a web address. A pattern is `host` or `host/path`, with or without `http://` or
 * `https://` in front. `*` in the host does not reach into the path; without a path the whole host is meant. `domain:host` is
 * the host with any port.
 */
export function addressSubject(tool: Pick<Tool, "name">, url: string): Subject {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  return {
    matches(rule) {
      if (!isAbout(rule, tool)) return "no";
      const { pattern } = rule;
      if (pattern === undefined) return "yes";
      // An address that cannot be read may still mean something to the tool.
      if (address === undefined) return "perhaps";
      return fits(pattern, address) ? "yes" : "no";
    },
    allowed(rules) {
      const plain = address !== undefined && address.username === "" && address.password === "";
      return rules.some(
        (rule) => isAbout(rule, tool) && (rule.pattern === undefined || (plain && fits(rule.pattern, address))),
      );
    },
    suggestion() {
      if (address === undefined || address.host === "") return undefined;
      return formatRule({ tool: tool.name, pattern: `${address.protocol}//${address.host}/*` });
    },
  };
}

/**
 * Why an address may not be asked, in a sentence; nothing when it may. A rule that denies holds wherever one comes `from`. One that
 * asks is kept when the address that leads on fits it too, since then a person said yes: so none is a way past the question.
 */
export function whyNotFetched(address: URL, from: URL, { deny, ask }: Rules): string | undefined {
  const speaksOf = ({ href }: URL, rule: Rule) => addressSubject({ name: FETCHING }, href).matches(rule) !== "no";
  const closed = restrained(deny).find((rule) => speaksOf(address, rule));
  if (closed) return `The rule '${formatRule(closed)}' forbids fetching ${address.href}.`;
  const open = restrained(ask).find((rule) => speaksOf(address, rule) && !speaksOf(from, rule));
  return open && `${from.href} redirects to ${address.href}, which the rule '${formatRule(open)}' asks about.`;
}

function fits(pattern: string, address: URL): boolean {
  // As Claude Code writes it: the host alone, whatever its port.
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

/** Without codes that stand for letters, digits and `-._~`: with them it is the same path (RFC 3986, 6.2.2.2). */
function samePath(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (code, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
}

/** Without the dot that may stand at the end of a host's name: it is the same host with and without. */
function sameHost(host: string): string {
  return host.replace(/\.(?=(?::[\d*]+)?$)/, "");
}
