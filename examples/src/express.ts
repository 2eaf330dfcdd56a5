// An agent behind a server of Express. Put it before any parser of bodies, such as `express.json()`.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { handler } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";
import express from "express";

const agent = new Agent({ name: "shop", model: scriptedModel(["We open at nine."]) });
const { node, token, close } = handler(agent, { store: sqliteStore({ directory: "conversations" }) });
const app = express();
app.use("/agent", node);
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");

const { port } = server.address() as AddressInfo;
const response = await fetch(`http://127.0.0.1:${port}/agent/v1/responses`, {
  method: "POST",
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  body: JSON.stringify({ model: "shop", input: "When do you open?" }),
});
const { output } = (await response.json()) as { output: { content: { text: string }[] }[] };
console.log(output[0]?.content[0]?.text);
server.close();
await close();
