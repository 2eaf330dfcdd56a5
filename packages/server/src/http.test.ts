import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Mirror } from "@banyan/client";
import { createId, isId } from "@banyan/core";
import { ODD_IDS, pause, scriptedModel, text } from "@banyan/core/testing";
import { commands, errorCodes, PROTOCOL, type ServerFrame, serverFrame } from "@banyan/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpStatus } from "./doors/door.ts";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { signIn } from "./testing/sign-in.fixture.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const say = (words: string) => [{ type: "text", text: words }] as const;

/** A server, and script-like requests to it. */
async function scripted(...given: Parameters<typeof serving>) {
  const served = await serving(...given);
  const { address } = served.server;
  const get = async (path: string) => JSON.parse((await ask(address, path, { headers: bearer })).body);
  const post = async (command: object) => {
    const body = JSON.stringify({ id: createId(), ...command });
    const answer = await ask(address, "/api/v1/commands", { method: "POST", headers: bearer, body });
    return { status: answer.status, ...JSON.parse(answer.body) };
  };
  return { ...served, address, get, post };
}

/** The frames of an event stream, each with its id, until `until` returns true. */
async function events(
  address: string,
  path: string,
  until: (frames: readonly ServerFrame[]) => boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly frames: ServerFrame[]; readonly last: string | undefined }> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${address}${path}`, { headers: { ...bearer, ...headers }, signal: stop.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const frames: ServerFrame[] = [];
  let last: string | undefined;
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      last = /^id: (.*)$/m.exec(block)?.[1] ?? last;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data) frames.push(serverFrame.parse(JSON.parse(data)));
    }
    if (frames.length > 0 && until(frames)) break;
  }
  stop.abort();
  return { frames, last };
}

const items = (frames: readonly ServerFrame[]) => frames.flatMap((frame) => (frame.type === "feed" ? frame.items : []));
const hasEnded = (frames: readonly ServerFrame[]) => items(frames).some(({ type }) => type === "run.ended");

describe("the addresses for scripts", () => {
  test("a command does over HTTP what it does on a socket, once for each id", async () => {
    const model = scriptedModel(["Hello to you."]);
    const { get, post, address } = await scripted({ model });
    const { conversation } = await post({ type: "conversation.create" });
    const id = createId();
    for (const _ of [1, 2])
      expect(await post({ type: "turn.say", id, conversation, parts: say("hello") })).toMatchObject({
        status: 200,
        message: id,
      });
    await events(address, `/api/v1/conversations/${conversation}/feed?from=0.0.0`, hasEnded);
    expect(model.asked).toBe(1);
    expect(await get("/api/v1/conversations")).toMatchObject({ conversations: [{ id: conversation, title: "hello" }] });
    expect(await get("/api/v1/conversations?query=hel&limit=1")).toMatchObject({ hits: [{ conversation }] });
    expect(await get("/api/v1/models?provider=scripted")).toMatchObject({ models: [{ name: "scripted/model" }] });
    expect(await get("/api/v1/health")).toEqual({ status: "ok", server: expect.any(String), protocol: PROTOCOL });
    const read = await post({ type: "message.read", conversation, messages: [id, "nobody"] });
    expect(read).toMatchObject({ messages: [{ id, parts: say("hello") }], unknown: ["nobody"] });
  });

  test("a conversation is exported as a file, and imported again", async () => {
    const { post, address } = await scripted({ model: scriptedModel(["Hello to you."]) });
    const { conversation } = await post({ type: "conversation.create" });
    await post({ type: "turn.say", conversation, parts: say("hello") });
    await events(address, `/api/v1/conversations/${conversation}/feed?from=0.0.0`, hasEnded);
    const file = await ask(address, `/api/v1/conversations/${conversation}/export`, { headers: bearer });
    expect(file.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-disposition": `attachment; filename="${conversation}.json"`,
    });
    const headers = { ...bearer, "idempotency-key": createId() };
    const imports = await Promise.all(
      [1, 2].map(() => ask(address, "/api/v1/conversations", { method: "POST", headers, body: file.body })),
    );
    const [first, second] = imports.map(({ body }) => JSON.parse(body).conversation);
    expect(first).toMatch(/^[0-9a-z]{26}$/);
    expect(second).toBe(first);
    const markdown = await ask(address, `/api/v1/conversations/${first}/export?format=markdown`, { headers: bearer });
    expect(markdown.body).toContain("Hello to you.");
  });

  test("an impossible command gets a status and a sentence", async () => {
    const { post, get } = await scripted({ model: scriptedModel([]) });
    const conversation = createId();
    expect(await post({ type: "turn.retry", conversation })).toMatchObject({
      status: 404,
      error: { code: "not-found" },
    });
    expect(await post({ type: "turn.dance", conversation })).toMatchObject({
      status: 400,
      error: { code: "unknown-command" },
    });
    expect(await post({ type: "turn.say", conversation, parts: [] })).toMatchObject({
      status: 400,
      error: { code: "malformed" },
    });
    expect(await post({ type: "feed.subscribe", conversation })).toMatchObject({
      status: 400,
      error: { code: "invalid" },
    });
    expect(await get("/api/v1/conversations?limit=many")).toMatchObject({ error: { code: "malformed" } });
    expect(await get(`/api/v1/conversations/${conversation}/feed`)).toMatchObject({ error: { code: "not-found" } });
    expect(await get("/api/v1/nothing")).toMatchObject({ error: { code: "not-found" } });
  });

  test("W80: an invalid cursor is refused with a sentence, in the query and in the header", async () => {
    const { post, address } = await scripted({ model: scriptedModel([]) });
    const { conversation } = await post({ type: "conversation.create" });
    const path = `/api/v1/conversations/${conversation}/feed`;
    for (const place of ["", "1", "1.2", "1.2.3.4", "-1.0.0", "1.0.x", `${"9".repeat(16)}.0.0`]) {
      const wrong = [
        ask(address, `${path}?from=${place}`, { headers: bearer }),
        ask(address, path, { headers: { ...bearer, "last-event-id": place } }),
      ];
      for (const { status, body } of await Promise.all(wrong)) {
        expect({ status, ...JSON.parse(body).error }, place).toMatchObject({ status: 400, code: "malformed" });
        expect(JSON.parse(body).error.message).toContain("expected epoch.seq.offset");
      }
    }
  });

  test("W80: docs/protocol.md has the HTTP status of every error", () => {
    const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(rows.sort()).toEqual(errorCodes.map((code) => [code, httpStatus({ code, message: "" })]).sort());
  });

  test("W80: an id that another command had is refused, and does nothing twice or silently", async () => {
    const { post, get } = await scripted({ model: scriptedModel([]) });
    const id = createId();
    const [one, other] = [await post({ type: "conversation.create" }), await post({ type: "conversation.create" })];
    const added = { type: "message.add", id, conversation: one.conversation, parts: say("once") };
    for (const _ of [1, 2]) expect(await post(added)).toMatchObject({ status: 200, message: id });
    const refused = { status: 409, error: { code: "invalid", message: expect.stringContaining("its own id") } };
    expect(await post({ ...added, conversation: other.conversation })).toMatchObject(refused);
    expect(
      await post({ type: "message.star", id, conversation: one.conversation, message: id, starred: true }),
    ).toMatchObject(refused);
    expect((await get("/api/v1/conversations")).conversations).toHaveLength(1);
  });

  test("W80: a wrong method is refused, and the answer names the right methods", async () => {
    const { address } = await scripted({ model: scriptedModel([]) });
    const wrong = await ask(address, "/api/v1/conversations", { method: "DELETE", headers: bearer });
    expect({ ...wrong, ...JSON.parse(wrong.body) }).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST" },
      error: { code: "malformed", message: "This address does not support DELETE. Use GET or POST." },
    });
  });

  test("W80: the description has each command by the schema that checks it, ids and limits included", async () => {
    const { get } = await scripted({ model: scriptedModel([]) });
    const { components } = await get("/api/v1/openapi.json");
    const { schemas } = components as { schemas: Record<string, { pattern: string; properties: object }> };
    const id = { $ref: "#/components/schemas/id" };
    const described = new RegExp(schemas.id?.pattern ?? "", "u");
    for (const text of [createId(), ...ODD_IDS, "", ".", "..", "a\n", "a\u0000", "\u0085", "x".repeat(129)])
      expect(described.test(text), JSON.stringify(text)).toBe(isId(text));
    for (const [name, { input }] of Object.entries(commands)) {
      const properties = Object.keys(input).filter((field) => field === "conversation");
      expect(schemas[name]?.properties, name).toMatchObject({ type: { const: name }, id });
      for (const field of properties) expect(schemas[name]?.properties, name).toMatchObject({ [field]: id });
    }
    expect(schemas["message.label"]?.properties).toMatchObject({ label: { anyOf: [{ maxLength: 200 }, {}] } });
    expect(schemas["feed.subscribe"]?.properties).toMatchObject({ from: { $ref: "#/components/schemas/cursor" } });
    expect(schemas["message.checkpoint"]?.properties).toMatchObject({
      parts: { items: { properties: { offset: {} } } },
    });
  });

  test("the description names every command, and all its references resolve", async () => {
    const { get } = await scripted({ model: scriptedModel([]) });
    const document = await get("/api/v1/openapi.json");
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: PROTOCOL } });
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path]) => path?.split("/") ?? [],
    );
    expect(refs.length).toBeGreaterThan(50);
    for (const path of refs) expect(document, path.join("/")).toHaveProperty(path);
  });
});

test("the description has every address of the doors that docs/protocol.md names, and each is there", async () => {
  const { address, get } = await scripted({ model: scriptedModel([]) });
  const { paths } = (await get("/api/v1/openapi.json")) as {
    paths: Record<string, Record<string, { tags?: string[] }>>;
  };
  const doors = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { tags }]) => (tags?.includes("doors") ? [{ path, method }] : [])),
  );
  const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => /^\| `\/(v1|api\/chat|api\/ag-ui)/.test(line));
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, path]) => path));
  expect(doors.map(({ path }) => path).toSorted()).toEqual(
    named.map((path) => path?.replace(/ID|THREAD/, "{id}").replace("NAME", "{name}")).toSorted(),
  );
  for (const { path, method } of doors) {
    const given = { method: method.toUpperCase(), headers: bearer, ...(method === "post" && { body: "{}" }) };
    const { body } = await ask(address, path.replace("{id}", "none"), given);
    expect(body, path).not.toContain("This address does not exist");
  }
});

const VALIDATE = "import json, sys, openapi_spec_validator as v; v.validate(json.load(sys.stdin))";
const hasValidator = spawnSync("python3", ["-c", "import openapi_spec_validator"]).status === 0;

test.skipIf(!hasValidator)("a checker accepts the description as OpenAPI 3.1", async () => {
  const { address } = await scripted({ model: scriptedModel([]) });
  const { body: input } = await ask(address, "/api/v1/openapi.json", { headers: bearer });
  const { status, stderr } = spawnSync("python3", ["-c", VALIDATE], { input, encoding: "utf8" });
  expect(stderr.slice(-500)).toBe("");
  expect(status).toBe(0);
});

test("a server does not replace Request and Response of its process, which other code uses", async () => {
  const { Request, Response } = globalThis;
  const { address } = await scripted({ model: scriptedModel([]) });
  expect(globalThis).toMatchObject({ Request, Response });
  expect(await fetch(address)).toBeInstanceOf(globalThis.Response);
});

describe("server-sent events", () => {
  test("B50: bring the same frames, and go on from the last id without gap or repeat", async () => {
    const model = scriptedModel([[text("One, "), pause(50), text("two, "), pause(50), text("three.")]]);
    const { post, address } = await scripted({ model });
    const { conversation } = await post({ type: "conversation.create" });
    const path = `/api/v1/conversations/${conversation}/feed`;
    let asked: Promise<unknown> | undefined;
    const first = await events(address, path, (frames) => {
      // Send only after the first frame: the client then gets the whole turn.
      asked ??= post({ type: "turn.say", conversation, parts: say("count") });
      return items(frames).some(({ type }) => type === "text.delta");
    });
    await asked;
    const second = await events(address, path, hasEnded, { "last-event-id": first.last ?? "" });
    const [snapshot] = first.frames;
    if (snapshot?.type !== "snapshot") throw new Error("The first frame is a snapshot.");
    expect(second.frames[0]?.type).toBe("feed");
    const mirror = new Mirror(snapshot);
    mirror.take([...items(first.frames), ...items(second.frames)]);
    expect([...mirror.state.messages.values()].at(-1)).toMatchObject({
      parts: say("One, two, three."),
      finish: "stop",
    });
  });
});

describe("the page", () => {
  test("signed-in users get the page at every address of a view, and no other file", async () => {
    const directory = temporaryDirectory();
    const page = join(directory, "page");
    mkdirSync(join(page, "assets"), { recursive: true });
    writeFileSync(join(page, "index.html"), "<!doctype html><title>The page</title>");
    writeFileSync(join(page, "assets", "index-1a2b.js"), "export {};");
    writeFileSync(join(page, "notes.secret"), "not for anyone");
    writeFileSync(join(directory, "outside.js"), "not for anyone");
    const { address } = await scripted({ model: scriptedModel([]) }, { page });
    const { cookie } = await signIn(address, TOKEN);
    const signedIn = { cookie, accept: "text/html" };
    for (const path of ["/", "/c/abc", "/c/abc?leaf=def"]) {
      const answer = await ask(address, path, { headers: signedIn });
      expect(answer, path).toMatchObject({ status: 200, body: expect.stringContaining("The page") });
      expect(answer.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
      expect(answer.headers["content-security-policy"]).toContain("script-src 'self';");
    }
    const script = await ask(address, "/assets/index-1a2b.js", { headers: signedIn });
    expect(script).toMatchObject({ status: 200, body: "export {};" });
    expect(script.headers).toMatchObject({ "content-type": "text/javascript; charset=utf-8" });
    for (const path of ["/notes.secret", "/../outside.js", "/assets/..%2f..%2foutside.js", "/%2e%2e/outside.js"]) {
      expect(await ask(address, path, { headers: signedIn }), path).toMatchObject({ status: 404 });
    }
    const stranger = await ask(address, "/", { headers: { accept: "text/html" } });
    expect(stranger).toMatchObject({ status: 401, body: expect.stringContaining("banyan serve") });
    expect(stranger.body).not.toContain("The page");
  });

  test.each([
    ["br, gzip", "br"],
    ["gzip, deflate, br;q=0.5", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip;q=0.2", "gzip"],
    ["deflate", null],
    ["", null],
  ])("W78: a script comes compressed in what the browser takes, and for good: %j", async (takes, coding) => {
    const page = temporaryDirectory();
    const code = "export const words = [];\n".repeat(500);
    mkdirSync(join(page, "assets"));
    writeFileSync(join(page, "assets", "index-1a2b.js"), code);
    writeFileSync(join(page, "assets", "icon-1a2b.png"), code);
    const { address } = await scripted({ model: scriptedModel([]) }, { page });
    for (let time = 0; time < 2; time++) {
      const script = await fetch(`${address}/assets/index-1a2b.js`, { headers: { "accept-encoding": takes } });
      expect(script.headers.get("content-encoding")).toBe(coding);
      expect(script.headers.get("vary")).toBe("Accept-Encoding");
      expect(script.headers.get("cache-control")).toContain("immutable");
      expect(await script.text()).toBe(code);
    }
    const icon = await fetch(`${address}/assets/icon-1a2b.png`, { headers: { "accept-encoding": takes } });
    expect(icon.headers.get("content-encoding")).toBeNull();
  });

  test("W61, S12: only the page can embed the frame for a model's web page; the frame has no origin and no network", async () => {
    const page = temporaryDirectory();
    for (const file of ["index.html", "frame.html"])
      writeFileSync(join(page, file), "<!doctype html><title>A file</title>");
    const { address } = await scripted({ model: scriptedModel([]) }, { page });
    const framed = (path: string, site: string) =>
      ask(address, path, {
        headers: { "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate", "sec-fetch-site": site },
      });
    const { status, headers } = await framed("/frame.html", "same-origin");
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "connection-allowlist": "()", "x-frame-options": "SAMEORIGIN" });
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy).toEqual(
      expect.arrayContaining(["sandbox allow-scripts", "default-src 'none'", "frame-ancestors 'self'"]),
    );
    expect(policy.filter((part) => /'self'|https?:|\*/.test(part))).toEqual(["frame-ancestors 'self'"]);
    for (const [path, site] of [
      ["/frame.html", "cross-site"],
      ["/frame.html", "same-site"],
      ["/frame.html", "none"],
      ["/", "same-origin"],
    ] as const)
      expect(await framed(path, site), `${path} ${site}`).toMatchObject({ status: 403 });
  });

  test("the address of a missing build names the build command", async () => {
    const { address } = await scripted({ model: scriptedModel([]) });
    expect(await ask(address, "/", { headers: bearer })).toMatchObject({
      status: 404,
      body: expect.stringContaining("npm run build"),
    });
  });
});
