// The file app/api/[...path]/route.ts of a Next.js application: pages use `useChat` with its usual address, /api/chat.
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { handler } from "@banyan/server";
import { sqliteStore } from "@banyan/store/sqlite";

const agent = new Agent({ model: scriptedModel(["We open at nine."]) });
const store = sqliteStore({ directory: "conversations" });
const { fetch } = handler(agent, {
  store,
  authorize: (request) => request.headers.get("cookie") === "user=ada",
  allowedHosts: ["app.example.com"],
});

export { fetch as GET, fetch as POST };
