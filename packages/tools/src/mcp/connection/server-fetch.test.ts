import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serverFetch } from "./server-fetch.ts";

let server: Server;
let origin: string;
/** The headers of received requests. */
let came: NodeJS.Dict<string | string[]>[];
beforeEach(async () => {
  came = [];
  server = createServer({ keepAliveTimeout: 600_000 }, ({ headers, url }, response) => {
    came.push(headers);
    if (url === "/large") response.end("x".repeat(2 * 1024 * 1024));
    else if (url === "/elsewhere") response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    else response.writeHead(url === "/empty" ? 204 : 200, { "x-answer": "yes" }).end(url === "/empty" ? "" : "hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const entry = { url: "http://mcp.example.com/mcp", headers: { "X-Key": "mine", Authorization: "Bearer mine" } };

/** The addresses of host names. */
const named = (addresses: Readonly<Record<string, string>>) => ({
  resolve: async (host: string) => [addresses[host] ?? host],
});

describe("S11: a server of the public internet", () => {
  const reach = named({ "mcp.example.com": "93.184.216.34", "rebound.example.com": "10.0.0.1" });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://10.0.0.1/",
    "https://rebound.example.com/.well-known/oauth-authorization-server",
  ])("does not lead to %s", async (address) => {
    const refused = serverFetch(entry, reach)(address);
    await expect(refused).rejects.toSatisfy((error: Error) =>
      `${error.message} ${error.cause}`.includes("is not on the public internet"),
    );
  });

  test("the fetch follows addresses of the same server, without the entry's headers, and no redirects", async () => {
    // The test's own server plays the public internet.
    const open = { allowAddress: () => true, ...named({ "mcp.example.com": "127.0.0.1" }) };
    const fetch = serverFetch(entry, open);
    const headers = { "x-key": "mine", authorization: "Basic of-the-sign-in", accept: "text/plain" };
    const answer = await fetch(`${origin}/`, { method: "POST", headers, body: new URLSearchParams({ a: "b" }) });
    expect(answer).toBeInstanceOf(Response);
    expect([answer.status, answer.headers.get("x-answer"), await answer.text()]).toEqual([200, "yes", "hello"]);
    expect(came[0]).toMatchObject({ accept: "text/plain", "content-type": expect.stringContaining("urlencoded") });
    expect(came[0]).not.toHaveProperty("x-key");
    expect(came[0]).toHaveProperty("authorization", "Basic of-the-sign-in");
    await fetch(`${origin}/`, { headers: entry.headers });
    expect(came[1]).not.toHaveProperty("authorization");
    expect((await fetch(`${origin}/empty`)).status).toBe(204);
    expect((await fetch(`${origin}/elsewhere`)).status).toBe(302);
    await expect(fetch(`${origin}/large`)).rejects.toThrow("sent more than 1048576 bytes");
  });
});

test("S10: a server of one's own network leads anywhere, without the headers of its entry", async () => {
  const fetch = serverFetch(entry, named({ "mcp.example.com": "192.168.0.5" }));
  const answer = await fetch(`${origin}/`, { headers: { "X-Key": "mine" } });
  expect(await answer.text()).toBe("hello");
  expect(came[0]).not.toHaveProperty("x-key");
});

test("S10: the headers of an entry go to its own server", async () => {
  const fetch = serverFetch({ ...entry, url: `${origin}/mcp` });
  await fetch(`${origin}/`, { headers: { "X-Key": "mine" } });
  expect(came[0]).toHaveProperty("x-key", "mine");
});
