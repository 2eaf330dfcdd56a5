import { type Command, commandSchema, PROTOCOL, type Problem } from "@banyan/protocol";

/** Checks what a client sent: returns the command, or why it is malformed. Never throws. */
export function readCommand(
  frame: unknown,
): { readonly command: Command; readonly error?: never } | { readonly command?: never; readonly error: Problem } {
  const type = typeof frame === "object" && frame !== null && "type" in frame ? frame.type : undefined;
  if (typeof type !== "string") return malformed("A command is a JSON object with a type and an id.");
  const schema = commandSchema(type);
  if (!schema) {
    const message = `This server (protocol ${PROTOCOL}) does not know the command ${type.slice(0, 100)}.`;
    return { error: { code: "unknown-command", message } };
  }
  try {
    const { data, error } = schema.safeParse(frame);
    if (data) return { command: data };
    const [issue] = error.issues;
    return malformed(`${issue?.path.join(".") || type}: ${issue?.message}`);
  } catch {
    // Checking a value with a hundred thousand levels overflows the stack.
    return malformed(`${type}: it is nested too deeply.`);
  }
}

function malformed(message: string): { readonly error: Problem } {
  return { error: { code: "malformed", message } };
}
