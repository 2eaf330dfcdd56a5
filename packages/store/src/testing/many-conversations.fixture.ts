import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "../sqlite/index.ts";

/** Returns the id of a conversation of `manyConversations`. */
export function numberedId(number: number): string {
  return `01m${String(number).padStart(23, "0")}`;
}

/** Makes a store's directory with `count` closed conversations, copies of one with a message. */
export async function manyConversations(directory: string, count: number): Promise<void> {
  const folder = join(directory, "conversations");
  const store = sqliteStore({ directory });
  const id = numberedId(1);
  const log = await store.open(id, { create: true });
  const base = { epoch: log.epoch, at: 1_750_000_000_000 };
  await log.append([
    {
      type: "message.added",
      message: "m1",
      parentId: null,
      role: "user",
      parts: [{ type: "text", text: "What is a banyan?" }],
      seq: 1,
      ...base,
    },
  ]);
  await log.close();
  await store.close();
  mkdirSync(folder, { recursive: true });
  const [source = ""] = readdirSync(folder).filter((name) => name.endsWith(".sqlite"));
  for (let number = 2; number <= count; number++)
    copyFileSync(join(folder, source), join(folder, `${numberedId(number)}.sqlite`));
}
