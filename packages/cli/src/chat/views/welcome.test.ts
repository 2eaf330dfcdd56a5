import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { banyan, type Home, home } from "../../testing/banyan.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";

/** Extends the limit of 300 ms for local servers, which a busy machine may exceed. */
const FORBEARING = `--import=data:text/javascript,${encodeURIComponent(`
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (time) => timeout(100 * time);
`)}`;

/** A home without an earlier start. */
function fresh(): { readonly place: Home; readonly marker: string } {
  const place = home();
  const marker = join(place.env.BANYAN_HOME ?? "", "state", "welcomed");
  rmSync(marker);
  return { place, marker };
}

test.skipIf(!hasTmux)(
  "the first start names the found keys, the model, the rights and first commands, once and without a question",
  async () => {
    const { place, marker } = fresh();
    using _ = place;
    await using server = await modelServer({ text: "Hello." });
    const [here, nowhere] = [server.env.OPENAI_BASE_URL ?? "", "http://127.0.0.1:9/v1"];
    const addresses = { LMSTUDIO_BASE_URL: nowhere, LLAMACPP_BASE_URL: nowhere, VLLM_BASE_URL: nowhere };
    const env = { BANYAN_NO_DISCOVERY: "", OLLAMA_BASE_URL: here, ...addresses, NODE_OPTIONS: FORBEARING };
    const print = await banyan(place, ["-p", "hello"], { env });
    expect(print).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(print.stderr).not.toContain("Welcome");
    expect(existsSync(marker)).toBe(false);
    {
      using pty = Pty.open(place, [], env);
      await pty.until("Welcome!");
      const screen = await pty.prompted();
      expect(screen).toMatch(/^Model: ollama\/test \(no key is set, and ollama answers at /m);
      expect(screen).toMatch(/^ {2}found {2}ollama \(1 model\): A server answers at http:\/\/127\.0\.0\.1:\d+\/v1\.$/m);
      expect(screen).toMatch(/^ {2}model {2}ollama\/test\. Change it with \/model/m);
      expect(screen).toMatch(/^ {2}trust {2}This project has no settings and no AGENTS\.md$/m);
      expect(screen).toMatch(
        /^ {2}asked {2}The agent reads freely, and asks before edits and commands\.\s+Shift\+Tab\s+changes\s+the\s+mode\.$/m,
      );
      expect(screen).toMatch(/^ {2}try +what is in this folder\?\n +@ and[\s\S]*\n +\/tree goes back to any message/m);
      pty.enter("hello");
      await pty.until("Hello.");
    }
    {
      using again = Pty.open(place, [], env);
      expect(await again.prompted()).not.toContain("Welcome!");
    }
    rmSync(marker);
    {
      // The welcome must not appear below the user's input, where it would look like a reply.
      const given = Promise.withResolvers<void>();
      const late = createServer((socket) => socket.resume().on("close", given.resolve)).listen(0, "127.0.0.1");
      using _late = { [Symbol.dispose]: () => late.close() };
      await once(late, "listening");
      const { port } = late.address() as AddressInfo;
      using early = Pty.open(place, ["--model", "demo/offline"], {
        ...env,
        NODE_OPTIONS: "",
        VLLM_BASE_URL: `http://127.0.0.1:${port}/v1`,
      });
      await early.prompted();
      early.enter("/keys");
      await early.until("Change keys under");
      // The search for servers is over, so the welcome would have been printed by now.
      await given.promise;
      await sleep(1_000);
      expect(early.screen()).not.toContain("Welcome!");
      expect(existsSync(marker)).toBe(false);
    }
    {
      // The lack of a model, and its replacement, are named once.
      using stand = Pty.open(place, ["--plain"]);
      const screen = await stand.prompted();
      for (const said of ["demo/offline", "no key is set", "No key", "without a language model"])
        expect(screen.match(new RegExp(said, "g")) ?? []).toHaveLength(said === "No key" ? 0 : 1);
      expect(screen).toMatch(/^ {2}model {2}Change it with \/model$/m);
      rmSync(marker);
    }
    using plain = Pty.open(place, ["--plain", "--model", "demo/offline"]);
    const lines = await plain.prompted();
    expect(lines).toMatch(/Welcome![\s\S]* found {2}No API key is set[\s\S]* \/approval changes the mode\.$/m);
  },
);
