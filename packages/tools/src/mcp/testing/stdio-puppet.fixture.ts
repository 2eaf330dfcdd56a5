import { createInterface } from "node:readline";
import { type Message, Puppet } from "./puppet.fixture.ts";

/*
 * A puppet as a program. Its first argument is JSON: the options of a puppet, and `says` (to standard error), `exits`
 * (at once, with this code), `chatters` (lines on standard output that are no messages), `deaf` (no answers),
 * `stubborn` (ignores requests to exit).
 */
const told = JSON.parse(process.argv[2] ?? "{}");
if (told.says) process.stderr.write(`${told.says}\n`);
if (told.exits !== undefined) process.exit(told.exits);
if (told.chatters) process.stdout.write("Welcome!\n{ not json\n[1, 2]\n");
if (told.stubborn) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1_000);
}
const puppet = new Puppet(told);
const send = (message: Message) => process.stdout.write(`${JSON.stringify(message)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const message: Message = JSON.parse(line);
  if (message.method === "notifications/cancelled") process.stderr.write("cancelled\n");
  if (!told.deaf) void puppet.take(message, send);
}
