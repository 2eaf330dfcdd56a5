import { keyLines } from "../terminal/full/keys/key-lines.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const keys: Command<ConversationContext> = {
  name: "keys",
  help: "show what each key does, and what it is called where it can be changed",
  anytime: true,
  run({ keys: rows, style, columns, write }) {
    if (rows) write(...keyLines(rows, columns, style));
    else write("Here your system edits the line, with its own keys. Enter sends; Ctrl-C interrupts; Ctrl-D leaves.");
    return ASK;
  },
};
