// Your own agent behind a server, with the page, the doors for other programs, and its conversations in SQLite.
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";

const agent = new Agent({ name: "shop", model: scriptedModel(["We open at nine."]), instructions: "You are a shop." });
const store = sqliteStore({ directory: "conversations" });
const server = await serve(agent, { store });
// A browser that opens `server.pageAddress` is signed in. Here, a program asks at the door for OpenAI clients.
const response = await fetch(`${server.address}/v1/responses`, {
  method: "POST",
  headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
  body: JSON.stringify({ model: "shop", input: "When do you open?" }),
});
const { output } = (await response.json()) as { output: { content: { text: string }[] }[] };
console.log(output[0]?.content[0]?.text);
await server.stop();
await store.close();
