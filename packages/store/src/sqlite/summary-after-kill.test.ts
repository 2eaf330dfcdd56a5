import { Agent, defineTool, pathTo, resume, Session } from "@banyan/core";
import { promptFrom } from "@banyan/core/hosts";
import { scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { kill, nextLine, run } from "./child.fixture.ts";
import { ID, storeIn, temporaryDirectory } from "./store.fixture.ts";

/** Summarizes three orders, starts a background process, and prints the next request. Then hangs in the next turn. */
const WORKER = `
  await log.close();
  const { Agent, defineTool, pathTo, Session } = await import(${JSON.stringify(import.meta.resolve("@banyan/core"))});
  const { promptFrom } = await import(${JSON.stringify(import.meta.resolve("@banyan/core/hosts"))});
  const { call, scriptedModel, stall, text } = await import(${JSON.stringify(import.meta.resolve("@banyan/core/testing"))});
  const start = defineTool({
    name: "start", description: "", input: { type: "object" }, effects: "external",
    execute: (_, { stay }) => stay({ title: "npm run dev", over: new Promise(() => {}), end: () => {} }),
  });
  const long = "Because it is warm. ".repeat(100);
  const model = scriptedModel([[call("start")], long, long, long, "The work continues.", [text("Half"), stall()]]);
  const agent = new Agent({ model, tools: [start] });
  const session = await Session.open(store, ${JSON.stringify(ID)});
  for (const order of ["Use tabs.", "Name it fig.ts.", "No: plum.ts."]) await agent.send(order, { session });
  await agent.compact({ session });
  console.log(JSON.stringify(promptFrom(pathTo(session.state, session.state.leaf))));
  session.listen({ items: (items) => items.some(({ type }) => type === "message.checkpoint") && console.log("hangs"), ended() {} });
  await agent.send("Go on.", { session });
`;

test("F86, F87: behind a summary, a process that is killed leaves the next one the same bytes, and what ended is told", async () => {
  const directory = await temporaryDirectory();
  const { child, lines } = run(directory, WORKER);
  const bytes = await nextLine(lines);
  expect(bytes).toMatch(/Use tabs\.[\s\S]*Name it fig\.ts\.[\s\S]*No: plum\.ts\./);
  expect(bytes).toContain("p1: npm run dev");
  expect(await nextLine(lines)).toBe("hangs");
  await kill(child);

  const session = await Session.open(storeIn(directory), ID);
  const summary = [...session.state.messages.values()].find(({ role }) => role === "summary");
  expect(JSON.stringify(promptFrom(pathTo(session.state, summary?.id ?? null)))).toBe(bytes);
  const model = scriptedModel(["I see."]);
  const start = defineTool({
    name: "start",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => "not again",
  });
  for await (const _ of new Agent({ model, tools: [start] }).chat(resume(), { session }));
  const request = JSON.stringify(model.requests[0]?.messages);
  expect(request).toContain(bytes.slice(1, -1));
  expect(request.indexOf("p1 (npm run dev) has ended: the program that started the process stopped.")).toBeGreaterThan(
    request.indexOf("Half"),
  );
  await session.close();
});
