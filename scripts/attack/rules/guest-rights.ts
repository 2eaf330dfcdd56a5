import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId } from "../../../packages/core/src/conversation/index.ts";
import type { Attack } from "../attack.ts";
import { attackedServer, command, GUEST, send } from "../attacked-server.ts";

// S28: a guest may only watch: no change, and no data except conversations.

const id = createId();
const parts = [{ type: "text", text: "by a guest" }];

/** Commands that are forbidden for a guest, with their input. The conversation is the owner's. */
const forbidden: Readonly<Record<string, object>> = {
  "conversation.create": {},
  "conversation.rename": { title: "by a guest" },
  "conversation.remove": {},
  "conversation.seen": {},
  "conversation.import": { text: "{}" },
  "context.read": {},
  "turn.say": { parts },
  "prompt.list": {},
  "prompt.say": { prompt: "by-a-guest" },
  "message.add": { parts },
  "turn.retry": { at: id },
  "turn.resume": { at: id },
  "turn.hasten": {},
  "run.interrupt": {},
  "process.stop": { process: "p1" },
  "input.edit": { input: id, delivery: "queue" },
  "input.withdraw": { input: id },
  "branch.compact": { at: id },
  "question.answer": { question: id, answer: { decision: "allow" } },
  "rule.revoke": { pattern: "shell(ls)" },
  "message.label": { message: id, label: "by a guest" },
  "message.star": { message: id, starred: true },
  "summary.edit": { message: id, text: "by a guest" },
  "message.remove": { message: id },
  "message.restore": { message: id },
  "model.list": {},
  "model.use": { model: "demo/offline" },
  "approval.use": { mode: "all" },
  "file.find": { query: "" },
  "file.undo": { leaf: id, call: id },
  "file.compare": { leaf: id },
  "file.rewind": { leaf: id, asOf: 0 },
  "picture.read": { url: "http://127.0.0.1/picture.png" },
};

const guest = { authorization: `Bearer ${GUEST}` };

const SECRET = "of-the-instructions-of-the-owner";
const BEGINNING = "0.0.0";

const logs: Readonly<Record<string, (conversation: string) => string>> = {
  "the feed from its beginning": (conversation) => `/api/v1/conversations/${conversation}/feed?from=${BEGINNING}`,
  "an export": (conversation) => `/api/v1/conversations/${conversation}/export`,
};

export const attacks: readonly Attack[] = [
  ...Object.entries(logs).map(
    ([way, path]): Attack => ({
      rule: "S28",
      name: `a guest reads what the model is sent beside the conversation, by ${way}`,
      async attempt(place) {
        const config = join(place.home, ".banyan", "config");
        mkdirSync(config, { recursive: true });
        writeFileSync(join(config, "AGENTS.md"), `${SECRET}\n`);
        const { address, token, conversation } = await attackedServer(place);
        const owner = { authorization: `Bearer ${token}` };
        await command(address, owner, "turn.say", { conversation, parts });
        const log = (headers: Record<string, string>) => send(address, path(conversation), { headers });
        for (let tries = 0; !(await log(owner)).body.includes(SECRET); tries += 1) {
          if (tries === 100) throw new Error("The owner does not see the instructions either.");
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        const { body, status } = await log(guest);
        if (status !== 200) throw new Error(`${status}: ${body.slice(0, 100)}`);
        return body.includes(SECRET) ? "the instructions of the owner" : undefined;
      },
    }),
  ),
  ...Object.entries(forbidden).map(
    ([type, input]): Attack => ({
      rule: "S28",
      name: `a guest sends ${type}`,
      async attempt(place) {
        const { address, token, conversation } = await attackedServer(place);
        const { status, body } = await command(address, guest, type, { conversation, rights: ["act"], ...input });
        if (status === 400 && body.includes("malformed")) throw new Error(`The attack says it wrongly: ${body}`);
        if (status !== 403) return `${status}: ${body.slice(0, 100)}`;
        const owner = { authorization: `Bearer ${token}` };
        const { body: log } = await send(address, `/api/v1/conversations/${conversation}/export`, { headers: owner });
        return log.includes("by a guest") ? "something of the guest's is in the conversation" : undefined;
      },
    }),
  ),
  {
    rule: "S28",
    name: "a guest asks for providers by their address",
    async attempt(place) {
      const { address } = await attackedServer(place);
      const { status, body } = await send(address, "/api/v1/models", { headers: guest });
      return status === 403 ? undefined : `${status}: ${body.slice(0, 100)}`;
    },
  },
  {
    rule: "S28",
    name: "a guest imports a conversation by its address",
    async attempt(place) {
      const { address } = await attackedServer(place);
      const { status, body } = await send(address, "/api/v1/conversations", {
        method: "POST",
        headers: guest,
        body: "{}",
      });
      return status === 403 ? undefined : `${status}: ${body.slice(0, 100)}`;
    },
  },
];
