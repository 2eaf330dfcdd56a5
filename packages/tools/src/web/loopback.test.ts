import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Sandbox } from "../sandbox/index.ts";
import { helloServer, sandboxOf, startIn, whyNoSandbox } from "../sandbox/sandbox.fixture.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { fetchTool } from "./index.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

let folder: TestFolder;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = new TestFolder();
  if (reason === undefined) sandbox = await sandboxOf(folder);
});

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A web server in the sandbox that sends this response to every request. */
async function serve(port: number, head: string, body = "", family = "TCP4"): Promise<AsyncDisposable> {
  folder.add(
    `answer-${port}`,
    `HTTP/1.1 ${head}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const script = `socat ${family}-LISTEN:${port},fork,reuseaddr SYSTEM:'cat answer-${port}; sleep 0.1' & until socat -u /dev/null TCP:localhost:${port} 2>/dev/null; do sleep 0.02; done; echo up; wait`;
  const server = await startIn(sandbox, folder, script, undefined, "one");
  await once(server.stdout ?? server, "data");
  return server;
}

function fetchIn(url: string, loopback = "one"): Promise<string> {
  const connect = async (): Promise<(port: number) => Socket | undefined> => (port) =>
    sandbox.loopback(loopback)?.connect(port);
  return call(fetchTool({ loopbackOf: connect }), { url });
}

test("S39: fetch reaches servers of the conversation's commands under every name of the loopback", async () => {
  await using _ = await serve(8201, "200 OK\r\ncontent-type: text/plain", "from inside");
  await using six = await serve(8202, "200 OK\r\ncontent-type: text/plain", "from six", "TCP6");
  for (const host of ["127.0.0.1", "localhost", "app.localhost", "127.1", "[::ffff:127.0.0.1]"])
    expect(await fetchIn(`http://${host}:8201/a`)).toContain("from inside");
  expect(await fetchIn("http://[::1]:8202/")).toContain("from six");
  expect(sandbox.loopback("one")?.ports()).toEqual([8201, 8202]);
  await expect(fetchIn("http://127.0.0.1:8201/", "two")).rejects.toThrow(/No command of this conversation listens/);
  await expect(call(fetchTool(), { url: "http://127.0.0.1:8201/" })).rejects.toThrow(/not on the public internet/);
  expect(six).toBeDefined();
});

test("S11, S39: fetch never reaches the loopback of the machine, neither directly nor after a redirect", async () => {
  await using outside = await helloServer();
  await using _ = await serve(8203, `302 Found\r\nlocation: http://127.0.0.1:${outside.port}/`);
  await using ten = await serve(8204, "302 Found\r\nlocation: http://10.0.0.1/");
  for (const host of ["127.0.0.1", "localhost", "[::1]"])
    await expect(fetchIn(`http://${host}:${outside.port}/`)).rejects.toThrow(/No command of this conversation listens/);
  await expect(fetchIn("http://127.0.0.1:8203/")).rejects.toThrow(
    new RegExp(`No command of this conversation listens on port ${outside.port}`),
  );
  await expect(fetchIn("http://127.0.0.1:8204/")).rejects.toThrow(/10\.0\.0\.1 is not on the public internet/);
  await expect(fetchIn(`http://0.0.0.0:${outside.port}/`)).rejects.toThrow(/not on the public internet/);
  expect(ten).toBeDefined();
});
