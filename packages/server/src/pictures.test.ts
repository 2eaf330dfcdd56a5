import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { readWebPicture } from "@banyan/tools/web";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { signIn } from "./testing/sign-in.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const GUEST = "a-guest-of-pictures-0123456789-0123456789";

/** An image of one pixel, in base64. */
const DATA = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PNG = Buffer.from(DATA, "base64");

/** This machine stands in for the web. */
const HERE = { allowAddress: (address: string) => address === "127.0.0.1" };

/** An image server on this machine with a request count, and a Banyan server that may load from it. */
async function pictures(listener: RequestListener) {
  let asked = 0;
  const web = createServer((request, response) => {
    asked++;
    listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(web, "listening");
  onTestFinished(() => {
    web.closeAllConnections();
    web.close();
  });
  const picture = (wanted: string, signal: AbortSignal) => readWebPicture(wanted, { ...HERE, signal });
  const { server } = await serving({ model: scriptedModel([]) }, { picture, guestToken: GUEST });
  return { server, asked: () => asked, url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/a.png` };
}

test("W59: a web image is loaded again for each request of its address", async () => {
  const { server, url, asked } = await pictures((_, response) => response.end(PNG));
  const client = await TestClient.connect(server);
  const id = createId();
  for (const time of [1, 2]) {
    client.send("picture.read", { url, id });
    expect(await client.outcome(id, time)).toMatchObject({
      type: "done",
      result: { picture: { address: url, mediaType: "image/png", data: DATA } },
    });
    expect(asked()).toBe(time);
  }
});

test("W59: an image of 5 MiB arrives, and a larger image is refused", async () => {
  const MOST = 5 * 1024 * 1024;
  const { server, url } = await pictures(({ url: path }, response) =>
    response.end(Buffer.concat([PNG], path === "/a.png" ? MOST : MOST + 1)),
  );
  const client = await TestClient.connect(server);
  const { picture } = await client.ask("picture.read", { url });
  expect(Buffer.from(picture?.data ?? "", "base64")).toHaveLength(MOST);
  expect(await client.ask("picture.read", { url: url.replace("/a.png", "/b.png") })).toMatchObject({
    refused: { why: "size", message: expect.stringContaining("/b.png is larger than") },
  });
});

test.each([
  ["missing", "/none.png"],
  ["content", "/page.png"],
  ["forbidden", "/inner.png"],
  ["redirect", "/round.png"],
])("S11, S12: a response that is no picture becomes a reason: %s", async (why, path) => {
  const { server, url } = await pictures(({ url: asked }, response) => {
    if (asked === "/none.png") response.writeHead(404);
    if (asked === "/inner.png") response.writeHead(302, { location: "http://169.254.169.254/latest" });
    if (asked === "/round.png") response.writeHead(302, { location: asked });
    response.end("<script>alert(1)</script>");
  });
  const client = await TestClient.connect(server);
  const { picture, refused } = await client.ask("picture.read", { url: url.replace("/a.png", path) });
  expect([picture, refused?.why]).toEqual([undefined, why]);
});

test("S4, S28, S29: neither a guest, nor who has a link, nor a foreign page with the browser's cookie has the server ask anybody", async () => {
  const { server, url, asked } = await pictures((_, response) => response.end(PNG));
  const owner = await TestClient.connect(server);
  const { conversation } = await owner.ask("conversation.create", {});
  const parts = [{ type: "text", text: `![a picture](${url})` }] as const;
  await owner.ask("message.add", { conversation, parts });
  const { token } = await owner.ask("share.create", { conversation });
  for (const theirs of [GUEST, token]) {
    const client = await TestClient.connect(server, theirs);
    await client.watch(conversation);
    await expect(client.ask("picture.read", { url })).rejects.toMatchObject({ code: "forbidden" });
  }
  const body = JSON.stringify({ type: "picture.read", id: createId(), url });
  const { cookie } = await signIn(server.address, server.token);
  const foreign: readonly Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { authorization: `Bearer ${TOKEN}`, origin: "https://elsewhere.example" },
    { cookie, origin: "https://elsewhere.example" },
    { cookie, origin: server.address },
    {},
  ];
  for (const headers of foreign) {
    const { status } = await ask(server.address, "/api/v1/commands", { method: "POST", headers, body });
    expect([401, 403]).toContain(status);
  }
  expect(asked()).toBe(0);
});
