import { z } from "zod";
import { id, line, nothing } from "../shapes.ts";
import { command } from "./command.ts";

const message = { conversation: id, message: id };

/** What people note on messages. Their content stays as it is. */
export const noteCommands = {
  "message.label": command(
    "Names a message; null takes the name away.",
    { ...message, label: line(200).nullable() },
    nothing,
  ),
  "message.star": command("Stars a message, or not.", { ...message, starred: z.boolean() }, nothing),
  "summary.edit": command(
    "Puts an edited summary beside the summary `message`: it covers the same, and the next request on its branch begins with it. Nothing is overwritten. The id of the command becomes the id of the new message.",
    { ...message, text: z.string().min(1).describe("The whole text of the edited summary.") },
    z.object({ message: id }),
  ),
  "memory.dismiss": command(
    "Has the model not told something any more that memory recalled for a message (`item`, the first being 0), or again.",
    { ...message, item: z.int().nonnegative(), dismissed: z.boolean() },
    nothing,
  ),
  "message.remove": command("Puts a message and all below it out of sight, until `message.restore`.", message, nothing),
  "message.restore": command("Brings back what `message.remove` put out of sight.", message, nothing),
} as const;
