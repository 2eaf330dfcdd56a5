import { defineTool } from "@banyan/core";
import { serving } from "./serving.fixture.ts";
import { TestClient } from "./test-client.fixture.ts";

/** A server, a client that watches a new conversation, and its state. */
export async function talking(...given: Parameters<typeof serving>) {
  const served = await serving(...given);
  const client = await TestClient.connect(served.server);
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  const ended = (count: number) =>
    client.until(() => client.items.filter(({ type }) => type === "run.ended").length >= count);
  const said = () =>
    [...state.messages.values()].map(({ id, parentId, role, parts }) => ({
      id,
      parentId,
      role,
      text: parts.map((part) => ("text" in part ? part.text : "")).join(""),
    }));
  return { ...served, client, conversation, state, ended, said };
}

/** A tool that waits until the test releases it or the call is cancelled. */
export function gated(name = "wait") {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    name,
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: (_input: unknown, { signal }) =>
      Promise.race([gate.promise, new Promise((_, reject) => signal.addEventListener("abort", reject))]),
  });
  return { tool, open: gate.resolve };
}
