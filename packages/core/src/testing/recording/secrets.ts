import type { Json } from "../../conversation/part.ts";

/** Headers that a recording keeps. No other header is written down. */
const KEPT_HEADERS = /^(accept|content-type|anthropic-(version|beta)|openai-beta|retry-after(-ms)?)$/;
/** Names of headers with secret values. */
const SECRET_HEADER = /auth|cookie|key|token|secret|pass|sign|credential|session/;
/** Names of query parameters and environment variables with secret values. */
const SECRET_NAME = /(^|[_-])(api[_-]?key|key|token|secret|password|passwd|credentials?|signature|sig|auth)$/i;
/** Names of fields with secret values. Tools use other fields, such as `key`, for ordinary words. */
const SECRET_FIELD = /((api|access|secret|private)_?key|token|secret|password|passwd|credentials?|authorization)$/i;
/** A value of a header or field that looks like a key. */
const RANDOM = /^(?=\S*\d)(?=\S*[A-Za-z])\S{16,}$/;
/** Forms of keys of known services, of tokens and of private keys. */
const SECRET_FORMS = [
  /\b(sk|pk|rk|gsk|xai|hf|r8|pplx|glpat|ghp|gho|ghu|ghs|ghr|npm|pypi|shpat)[-_](?=[\w-]*\d)[\w-]{16,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/=-]{12,}/g,
  /(?<=:\/\/[^\s/:@"]{0,200}:)[^\s/@"]{4,}(?=@)/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];
/** Shorter values are no secrets, unless the caller names them: they would hide ordinary words. */
const SHORTEST = 8;
/** The value of a secret field or query parameter, whatever its length. */
const HIDDEN = "******";

/** Hides secrets in one exchange. In texts, a secret becomes as many `*` as it has bytes, so that chunks keep their sizes. */
export class Secrets {
  readonly #known = new Set<string>();

  /** `more`: secrets that the caller names. Secret variables of the environment are known too. */
  constructor(more: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    for (const secret of more) this.#learn(secret, 1);
    for (const [name, value] of Object.entries(env)) if (SECRET_NAME.test(name)) this.#learn(value ?? "");
  }

  /** Learns the secret values of a request's headers: they may also be in bodies. */
  learnHeaders(headers: Headers): void {
    for (const [name, value] of headers) {
      if (KEPT_HEADERS.test(name) || !(SECRET_HEADER.test(name) || RANDOM.test(value))) continue;
      this.#learn(value);
      for (const [, item = ""] of name === "cookie" ? value.matchAll(/=([^;]*)/g) : []) this.#learn(item);
      const [, scheme = "", credentials = ""] = /^(\w+) (\S+)$/.exec(value) ?? [];
      this.#learn(credentials);
      if (scheme.toLowerCase() !== "basic") continue;
      const pair = Buffer.from(credentials, "base64").toString();
      this.#learn(pair);
      this.#learn(pair.slice(pair.indexOf(":") + 1));
    }
  }

  /** Returns the headers that a recording keeps. */
  headers(headers: Headers): Record<string, string> {
    const kept = [...headers].filter(([name]) => KEPT_HEADERS.test(name));
    return Object.fromEntries(kept.toSorted().map(([name, value]) => [name, this.text(value)]));
  }

  /** Returns path and query of an address. */
  path(address: string): string {
    const url = new URL(address);
    for (const [name, value] of [...url.searchParams]) {
      if (!SECRET_NAME.test(name)) continue;
      this.#learn(value);
      url.searchParams.set(name, HIDDEN);
    }
    this.#learn(decodeURIComponent(url.password));
    return this.text(url.pathname + url.search);
  }

  /** Learns the secret fields of a body: their values may also be in texts. */
  learnFields(value: Json): void {
    if (typeof value !== "object" || value === null) return;
    for (const [name, item] of Object.entries(value)) {
      if (typeof item !== "string") this.learnFields(item);
      else if (SECRET_FIELD.test(name) && RANDOM.test(item)) this.#learn(item);
    }
  }

  /** Returns a JSON value without secret fields and texts. */
  json(value: Json): Json {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    const hidden = Object.entries(value).map(([name, item]): [string, Json] => [
      this.text(name),
      typeof item === "string" && SECRET_FIELD.test(name) ? HIDDEN : this.json(item),
    ]);
    return Object.fromEntries(hidden);
  }

  text(text: string): string {
    return this.bytes(Buffer.from(text)).toString();
  }

  /** Returns bytes of the same length. */
  bytes(bytes: Buffer): Buffer {
    // One character for each byte keeps the length, also for secrets outside ASCII.
    let text = bytes.toString("latin1");
    // Long secrets first: a part of a secret must not break up the whole.
    for (const secret of [...this.#known].toSorted((a, b) => b.length - a.length))
      text = text.replaceAll(secret, "*".repeat(secret.length));
    for (const form of SECRET_FORMS) text = text.replace(form, (found) => "*".repeat(found.length));
    return Buffer.from(text, "latin1");
  }

  #learn(secret: string, shortest = SHORTEST): void {
    if (secret.length < shortest || /^\*+$/.test(secret)) return;
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    for (const form of forms) this.#known.add(Buffer.from(form).toString("latin1"));
  }
}
