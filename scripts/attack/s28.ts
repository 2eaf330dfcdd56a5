import { createId } from "../../packages/core/src/conversation/index.ts";
import type { Attack } from "./attack.ts";
import { attackedServer, command, GUEST, send } from "./attacked-server.ts";

// S28: a guest, who may only watch, changes nothing, and sees nothing but conversations.

const id = createId();
const parts = [{ type: "text", text: "by a guest" }];

/** What a guest must not do, each with what it would take; the conversation is the owner's. */
const forbidden: Readonly<Record<string, object>> = {
  "conversation.create": {},
  "conversation.rename": { title: "by a guest" },
  "conversation.remove": {},
  "conversation.seen": {},
  "conversation.import": { text: "{}" },
  "context.read": {},
  "turn.say": { parts },
  "message.add": { parts },
  "turn.retry": { at: id },
  "turn.resume": { at: id },
  "run.interrupt": {},
  "input.edit": { input: id, delivery: "queue" },
  "input.withdraw": { input: id },
  "branch.compact": { at: id },
  "question.answer": { question: id, answer: { decision: "allow" } },
  "rule.revoke": { pattern: "shell(ls)" },
  "message.label": { message: id, label: "by a guest" },
  "message.star": { message: id, starred: true },
  "message.remove": { message: id },
  "message.restore": { message: id },
  "model.list": {},
  "model.use": { model: "demo/offline" },
  "approval.use": { mode: "all" },
  "file.find": { query: "" },
  "file.revert": { leaf: id },
  "file.undo": { leaf: id, call: id },
};

const guest = { authorization: `Bearer ${GUEST}` };

export const attacks: readonly Attack[] = [
  ...Object.entries(forbidden).map(
    ([type, input]): Attack => ({
      rule: "S28",
      name: `a guest sends ${type}`,
      async attempt(place) {
        const { address, token, conversation } = await attackedServer(place);
        const { status, body } = await command(address, guest, type, { conversation, rights: ["act"], ...input });
        if (status === 400 && body.includes("malformed")) throw new Error(`The attack says it wrongly: ${body}`);
        if (status !== 403) return `${status}: ${body.slice(0, 100)}`;
        // Not even that it was tried is left behind.
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
