import { once } from "node:events";
import { scriptedModel } from "@banyan/core/testing";
import { PROTOCOL, SIGN_OF_LIFE } from "@banyan/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

test("F20: the server sends signs of life to clients, and disconnects a client that does not answer", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { server } = await serving({ model: scriptedModel([]) });
  const early = new TestClient(server.address, { authorization: `Bearer ${TOKEN}` });
  await once(early.socket, "open");
  const [client, gone] = [await TestClient.connect(server), await TestClient.connect(server)];
  gone.socket.pause();

  const pinged = once(client.socket, "ping");
  vi.advanceTimersByTime(SIGN_OF_LIFE);
  await client.frame("alive");
  await pinged;
  // The welcome comes first, before any broadcast.
  early.sendText(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "a test" }));
  await early.frame("welcome");
  expect(early.frames).toHaveLength(1);

  // The answer to the ping arrives before the answer to this command.
  await client.ask("conversation.list", {});
  vi.advanceTimersByTime(SIGN_OF_LIFE);
  gone.socket.resume();
  expect(await gone.end()).toMatchObject({ code: 1006 });
  await client.until(() => client.frames.filter(({ type }) => type === "alive").length === 2);
  expect(client.closed).toBeUndefined();
});
