/**
 * What can go wrong with an MCP server. `entry`: its configuration cannot be used. `variable`: it names a variable that
 * is not set. `start`: the server could not be started or reached, or does not speak the protocol. `sign-in`: somebody
 * has to sign in first. `gone`: the connection broke. `silent`: it gave no sign of life for as long as it may.
 * `refused`: it answered with an error. `unknown`: there is no such server, prompt or resource.
 */
export type McpErrorCode = "entry" | "variable" | "start" | "sign-in" | "gone" | "silent" | "refused" | "unknown";

/** A failure of an MCP server. Its message names the server and says what to do, for people and for the model. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** The same, and what it comes from. */
  static because(cause: unknown, code: McpErrorCode, message: string): McpError {
    return new McpError(code, message, { cause });
  }
}

/**
 * What went wrong, in words, with the cause where the message alone says nothing (`fetch failed`). What a validator says in JSON of an
 * answer that is not of the protocol is told as the places that are wrong (F50).
 */
export function reasonOf(error: unknown): string {
  return withoutIssues(wordsOf(error));
}

/** The places in the JSON of a validator, in the place of that JSON. */
function withoutIssues(words: string): string {
  const begin = words.search(/\[\s*\{/);
  if (begin === -1) return words;
  try {
    const issues: unknown = JSON.parse(words.slice(begin, words.lastIndexOf("]") + 1));
    if (!Array.isArray(issues) || !issues.every((issue) => Array.isArray(issue?.path))) return words;
    const places = issues.map(({ path }) => (path.length === 0 ? "its top" : path.join("."))).slice(0, PLACES);
    return `${words.slice(0, begin)}what it sent is not of the protocol, at ${[...new Set(places)].join(", ")}`;
  } catch {
    // No JSON after all.
    return words;
  }
}

/** Places that are named. */
const PLACES = 5;

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && !error.message.includes(cause.message)) {
    const inner = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
    return `${error.message}: ${inner instanceof Error ? inner.message : String(inner)}`;
  }
  return error.message;
}
