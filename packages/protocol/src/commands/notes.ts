import { z } from "zod";
import { id, lineSchema, nothing } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const message = { conversation: id, message: id };

export const noteCommands = {
  "message.label": command(
    "Names a message. `null` removes the name.",
    { ...message, label: lineSchema(200).nullable() },
    nothing,
  ),
  "message.star": command("Stars a message, or removes the star.", { ...message, starred: z.boolean() }, nothing),
  "summary.edit": command(
    "Adds an edited copy of the summary `message`, on a new branch beside the original. The new summary gets the command's id and covers the same messages. On the new branch, the next request to the model begins with the new summary.",
    { ...message, text: z.string().min(1).describe("Whole text of the edited summary.") },
    z.object({ message: id }),
  ),
  "memory.dismiss": command(
    "Keeps a recalled memory entry of a message out of the next requests to the model, or includes the entry again. `item` is the number of the entry, from 0.",
    { ...message, item: z.int().nonnegative(), dismissed: z.boolean() },
    nothing,
  ),
  "message.remove": command("Hides a message and all messages below it, until `message.restore`.", message, nothing),
  "message.restore": command("Makes messages visible again that `message.remove` hid.", message, nothing),
} as const;
