import { Agent, OptionError, type Store } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";

/**
 * Returns whether a value is an agent. An object with the right method is accepted, too, because the program may have
 * another copy of the class.
 */
export function isAgent(value: unknown): value is Agent {
  if (value instanceof Agent) return true;
  return typeof value === "object" && value !== null && "chat" in value && "options" in value;
}

/** Returns the options of `serve` or `handler` if their names are known and the store is usable. Throws `OptionError`. */
export function checkedStore<Options extends { readonly store: Store }>(
  call: string,
  options: Options | undefined,
  names: OptionNames<Options>,
): Options {
  refuseUnknown(call, options, names);
  const { allowedHosts = [] } = (options ?? {}) as { readonly allowedHosts?: readonly unknown[] };
  if (allowedHosts.some((name) => typeof name !== "string"))
    throw new OptionError(`allowedHosts of ${call} must be a list of names, such as ["api.example.com"].`);
  if (typeof options?.store?.open === "function") return options;
  const what = options?.store ? "is no store" : "is missing";
  throw new OptionError(
    `${call}(agent, { store }): \`store\` ${what}. Pass sqliteStore({ directory }) of @banyan/store/sqlite, for example.`,
  );
}

/** Returns origins whose pages may send requests. Throws `OptionError` for a text that is no origin. */
export function checkedOrigins(call: string, origins: readonly string[] = []): ReadonlySet<string> {
  for (const origin of origins) {
    const url = typeof origin === "string" ? URL.parse(origin) : null;
    const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
    if (isWeb && url.origin === origin) continue;
    const nearest = isWeb ? `; did you mean "${url.origin}"?` : ".";
    throw new OptionError(
      `${call}: \`allowedOrigins\` has origins such as "https://app.example.com", and ${JSON.stringify(origin)} is none${nearest}`,
    );
  }
  return new Set(origins);
}

/**
 * Makes text of a client safe for the log: it must not look like another log line, or control the terminal that shows
 * the log.
 */
export function safeLogLine(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
