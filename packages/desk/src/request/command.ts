import { type Command, type CommandName, commandSchema, PROTOCOL, type Problem } from "@banyan/protocol";

/** Names of the commands that concern the connection itself. */
export type ConnectionCommand = "conversation.watch" | "feed.subscribe" | "feed.unsubscribe" | "message.read";

/** Names of the commands that do not depend on the connection. */
export type DeskCommand = Exclude<CommandName, ConnectionCommand>;

/** The result of a command, or the reason of its failure. `cause`: the error, for clients in this process. */
export type CommandOutcome = { readonly result: object } | { readonly error: Problem; readonly cause?: unknown };

/** Parses a client's command. Returns the command, or the reason why it is malformed. Never throws. */
export function readClientCommand(
  frame: unknown,
): { readonly command: Command; readonly error?: never } | { readonly command?: never; readonly error: Problem } {
  const type = typeof frame === "object" && frame !== null && "type" in frame ? frame.type : undefined;
  if (typeof type !== "string") return malformedCommand("A command is a JSON object with a type and an id.");
  const schema = commandSchema(type);
  if (!schema) {
    const message = `This server (protocol ${PROTOCOL}) does not know the command ${type.slice(0, 100)}.`;
    return { error: { code: "unknown-command", message } };
  }
  try {
    const { data, error } = schema.safeParse(frame);
    if (data) return { command: data };
    const [issue] = error.issues;
    return malformedCommand(`${issue?.path.join(".") || type}: ${issue?.message}`);
  } catch {
    // Checking a value with a hundred thousand levels overflows the stack.
    return malformedCommand(`${type}: the command is nested too deeply.`);
  }
}

function malformedCommand(message: string): { readonly error: Problem } {
  return { error: { code: "malformed", message } };
}

const ofConnections: ReadonlySet<string> = new Set<ConnectionCommand>([
  "conversation.watch",
  "feed.subscribe",
  "feed.unsubscribe",
  "message.read",
]);

/** Returns whether a command is about the connection that sent it. */
export function isOfConnection(command: Command): command is Command<ConnectionCommand> {
  return ofConnections.has(command.type);
}

/** Returns whether a command began a turn. A message for a running turn begins no turn. */
export function hasBegun(outcome: CommandOutcome): boolean {
  return "result" in outcome && !("waits" in outcome.result && outcome.result.waits === true);
}

/** Returns whether a command failed with this code. */
export function failsAs(outcome: CommandOutcome, code: "locked" | "failed" | "stopping"): boolean {
  return "error" in outcome && outcome.error.code === code;
}
