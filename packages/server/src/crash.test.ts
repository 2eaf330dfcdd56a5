import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Client, WatchedConversation } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { type Message, textOf } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { badLink, type Link, soundLink } from "./testing/bad-link.fixture.ts";
import { seen, stored } from "./testing/seen.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./testing/server-program.fixture.ts", import.meta.url));
const say = (words: string) => [{ type: "text", text: words }] as const;

test("F20, B50: three clients and one on a bad link show what is in the store, though the server was killed twice", {
  timeout: 10 * 60_000,
}, async () => {
  const directory = temporaryDirectory();
  const [sound, bad] = [await soundLink(), await badLink()];
  const server = new ServerProcess(directory, [sound, bad]);
  await server.start();
  const addresses = [sound.address, sound.address, sound.address, bad.address];
  const remotes = await Promise.all(addresses.map((address) => connected(address)));
  const [owner, ...others] = remotes as [Client, ...Client[]];

  const { conversation } = await owner.ask("conversation.create", {});
  const first = await owner.watch(conversation).loaded;
  const { message } = await owner.ask("turn.say", { conversation, parts: say("the first branch") });
  const all = [first, ...(await Promise.all(others.map((other) => other.watch(conversation).loaded)))];
  let last = message;
  for (const crash of [1, 2]) {
    // Two branches at once, in the middle of their answers.
    await owner.ask("turn.retry", { conversation, at: message, parts: say(`left ${crash}, at length`) });
    await owner.ask("turn.retry", { conversation, at: message, parts: say(`right ${crash}, at length`) });
    await until(first, ({ runs, messages }) => {
      const said = [...runs.values()].map(({ leaf }) => textOf(messages.get(leaf ?? "") as Message));
      return said.length === 2 && said.every((text) => text.includes("word9 "));
    });
    await server.kill();
    // A command while the server is away is answered after the restart.
    const asked = owner.ask("turn.retry", { conversation, at: message, parts: say(`after crash ${crash}`) });
    await server.start();
    last = (await asked).message ?? last;
  }
  await until(first, ({ runs, messages }) => runs.size === 0 && messages.has(last));

  const end = [...first.state.messages.keys()].at(-1) ?? "";
  await owner.ask("message.label", { conversation, message: end, label: "the end" });
  for (const each of all) {
    await until(each, ({ messages }) => messages.get(end)?.label === "the end");
    await each.read();
  }
  for (const remote of remotes) remote.close();
  await server.kill();
  const store = sqliteStore({ directory });
  onTestFinished(() => store.close());
  const truth = seen(await stored(store, conversation));
  for (const each of all) expect(seen(each.state)).toEqual(truth);
  expect(bad.cuts).toBeGreaterThan(5);
});

/** A server in its own process, with links that follow it. */
class ServerProcess {
  readonly #directory: string;
  readonly #links: readonly Link[];
  #process: ChildProcessByStdio<null, Readable, null> | undefined;

  constructor(directory: string, links: readonly Link[]) {
    this.#directory = directory;
    this.#links = links;
    onTestFinished(() => void this.#process?.kill("SIGKILL"));
  }

  async start(): Promise<void> {
    const hosts = this.#links.map(({ address }) => new URL(address).host);
    const started = spawn(process.execPath, [PROGRAM, this.#directory, TOKEN, ...hosts], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = started;
    const [line] = await once(started.stdout.setEncoding("utf8"), "data");
    for (const link of this.#links) link.to(String(line).trim());
  }

  async kill(): Promise<void> {
    for (const link of this.#links) link.to(undefined);
    this.#process?.kill("SIGKILL");
    if (this.#process) await once(this.#process, "exit");
  }
}

/** Connects a client; a bad link may break before the welcome. */
async function connected(address: string): Promise<Client> {
  for (;;) {
    try {
      const remote = await connect({ address, token: TOKEN, client: "a test" });
      onTestFinished(() => remote.close());
      return remote;
    } catch {
      // Try again.
    }
  }
}

/** Waits until a conversation meets a condition, which is checked after each item. */
function until(watched: WatchedConversation, is: (state: WatchedConversation["state"]) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!is(watched.state)) return;
      stop();
      resolve();
    };
    const stop = watched.follow({
      item: look,
      renewed: look,
      stands: () => watched.problem && reject(watched.problem),
    });
    look();
  });
}
