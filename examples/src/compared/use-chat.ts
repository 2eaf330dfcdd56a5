// A server of Hono for `useChat`: history, approvals, stop, and a reload in the middle of an answer.
import { Agent } from "@banyan/core";
import { openai } from "@banyan/models/openai";
import { handler } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const agent = new Agent({ model: openai("gpt-5-mini") });
const store = sqliteStore({ directory: "conversations" });
const api = handler(agent, { store, authorize: ({ headers }) => headers.get("cookie") === "user=ada" });
const app = new Hono().all("/api/*", ({ req }) => api.fetch(req.raw));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(port));
