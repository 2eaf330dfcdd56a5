import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { type CommandName, PROTOCOL } from "@banyan/protocol";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

test("an older client of the same major version works, and a client of another version gets a clear message", async () => {
  const { server, log } = await serving({ model: scriptedModel([]) });
  const hello = async (protocol: string) => {
    const client = new TestClient(server.address, { authorization: `Bearer ${TOKEN}` });
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.sendText(JSON.stringify({ type: "hello", protocol, client: "a test", invented: true }));
    return client;
  };
  const [major] = PROTOCOL.split(".");
  const older = await hello(`${major}.0`);
  expect(await older.frame("welcome")).toMatchObject({ protocol: PROTOCOL, workspace: "/a/workspace" });
  const newer = await hello(`${major}.99`);
  await newer.frame("welcome");
  await expect(newer.ask("conversation.fly" as CommandName, {} as never)).rejects.toMatchObject({
    code: "unknown-command",
  });
  newer.sendText(JSON.stringify({ type: "conversation.list", id: createId(), invented: true }));
  await newer.frame("done");
  const other = await hello("99.0");
  expect(await other.end()).toMatchObject({ code: 4426 });
  expect(other.frames).toEqual([
    {
      type: "refused",
      protocol: PROTOCOL,
      message: expect.stringMatching(/uses protocol version .* 99\.0.*To update a page, reload the page/),
    },
  ]);
  expect(log.at(-1)).toContain("protocol 99.0");
  expect(newer.socket.readyState).toBe(WebSocket.OPEN);
});
