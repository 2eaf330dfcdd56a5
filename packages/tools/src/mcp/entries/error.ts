import { errorMessage } from "@banyan/core/shown";

/**
 * Why an MCP server failed. `entry`: its configuration is invalid. `variable`: its configuration names an unset
 * variable. `start`: the server did not start, is unreachable, or does not use the protocol. `sign-in`: the user must
 * sign in. `gone`: the connection broke. `silent`: the server gave no sign of life for too long. `refused`: the server
 * answered with an error. `unknown`: no such server, prompt or resource exists. See {@link McpError}.
 */
export type McpErrorCode = "entry" | "variable" | "start" | "sign-in" | "gone" | "silent" | "refused" | "unknown";

/**
 * A failure of an MCP server. The message names the server and the remedy, for users and for the model.
 * @example
 * try {
 *   readEntry("notes", {});
 * } catch (error) {
 *   if (error instanceof McpError) console.error(error.code, error.message); // "entry", and the missing field
 * }
 */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;

  constructor(code: McpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static because(cause: unknown, code: McpErrorCode, message: string): McpError {
    return new McpError(code, message, { cause });
  }
}

/**
 * Describes an error. If the message alone is too vague (`fetch failed`), adds the cause. If the error is a validator's
 * JSON, gives the names of the invalid fields instead (F50).
 */
export function reasonOf(error: unknown): string {
  return withoutIssues(causeText(error));
}

function withoutIssues(words: string): string {
  const begin = words.search(/\[\s*\{/);
  if (begin === -1) return words;
  try {
    const issues: unknown = JSON.parse(words.slice(begin, words.lastIndexOf("]") + 1));
    if (!Array.isArray(issues) || !issues.every((issue) => Array.isArray(issue?.path))) return words;
    const places = issues.map(({ path }) => (path.length === 0 ? "its top" : path.join("."))).slice(0, PLACES);
    return `${words.slice(0, begin)}its message violates the protocol at ${[...new Set(places)].join(", ")}`;
  } catch {
    // Not JSON.
    return words;
  }
}

const PLACES = 5;

function causeText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && !error.message.includes(cause.message)) {
    const inner = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
    return `${error.message}: ${errorMessage(inner)}`;
  }
  return error.message;
}
