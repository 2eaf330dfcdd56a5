import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { holdingLink } from "../testing/holding-link.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { serving, TOKEN } from "../testing/serving.ts";

/** The stored drafts. */
function kept({ env }: Home): string {
  return globSync(join(env.BANYAN_HOME ?? "", "data", "drafts", "*.json"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

for (const [how, args, shown] of [
  ["that redraws", [], /^─ Reply to banyan: ─+\nare you there\?/],
  ["in plain lines", ["--plain"], "(you had written: are you there?)"],
] as const) {
  test.skipIf(!hasTmux)(
    `T5: a user without a connection can leave a terminal ${how}, and the last sent text is kept`,
    async () => {
      using place = home();
      await using model = await modelServer({ text: "Hello to you." }, { text: "I am." });
      const [server] = await serving(place, model.env);
      {
        using pty = Pty.open(place, ["attach", "--new", ...args], model.env);
        await pty.prompted();
        await pty.exchange("hello", "Hello to you.");
        server.kill("SIGKILL");
        await once(server, "exit");
        await pty.until("Connection lost. Reconnecting.");
        pty.enter("are you there?");
        await pty.until("Not sent yet: “are you there?”.");
        // Ctrl-C removes a line from the system's line editor until the program has read it.
        await expect.poll(() => kept(place)).toContain("are you there?");
        pty.press("C-c");
        await pty.until("Press Ctrl-C again to leave. Banyan keeps the message.");
        pty.press("C-c");
        await pty.until("attach: banyan attach --resume");
        await pty.until("[exit 0]");
      }
      await serving(place, model.env);
      using pty = Pty.open(place, ["attach", ...args], model.env);
      await pty.until(shown);
      expect(model.asked).toHaveLength(1);
    },
  );
}

test.skipIf(!hasTmux)(
  "T31: without a connection, a signal ends the program while something is on its way",
  async () => {
    using place = home();
    await using model = await modelServer();
    const [server] = await serving(place, model.env);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    server.kill("SIGKILL");
    await pty.until("Connection lost. Reconnecting.");
    pty.enter("hello");
    await sleep(300);
    pty.kill("SIGTERM");
    await pty.until("[exit 143]");
  },
);

test.skipIf(!hasTmux)(
  "T7: without a connection, a terminal does not claim that the agent works; it goes elsewhere when it is connected again",
  async () => {
    using place = home();
    await using model = await modelServer(
      { text: "Hello to you." },
      { calls: [{ tool: "shell", input: { command: "sleep 60" } }] },
    );
    await using link = await holdingLink();
    const named = ["--allow-host", link.host];
    const [server, address] = await serving(place, model.env, "--approval", "all", ...named);
    link.to(address);
    using pty = Pty.open(place, ["attach", link.address, "--new", "--plain"], { BANYAN_TOKEN: TOKEN });
    await pty.prompted();
    await pty.exchange("hello", "Hello to you.");
    pty.enter("wait");
    await pty.until(/shell .*sleep 60/);
    pty.enter("/tree #2");
    await pty.until("The agent is working. Try again after its answer, or stop the agent first.");
    server.kill("SIGKILL");
    await once(server, "exit");
    await pty.until("Connection lost. Reconnecting.");
    pty.enter("/tree #2");
    await pty.until("Not connected. Try again when you are connected.");
    const [, anew] = await serving(place, model.env, ...named);
    link.to(anew);
    await pty.until("The server restarted.");
    await pty.exchange("/tree #2", "Your next message continues from here.");
  },
);

test.skipIf(!hasTmux)(
  "T7, T25: the activity line disappears while the connection is lost, and after a restart without the turn",
  async () => {
    using place = home();
    await using model = await modelServer({ text: "Once upon a time ", stalls: true });
    await using link = await holdingLink();
    const named = ["--allow-host", link.host];
    const [server, address] = await serving(place, model.env, ...named);
    link.to(address);
    using pty = Pty.open(place, ["attach", link.address, "--new"], { BANYAN_TOKEN: TOKEN });
    await pty.prompted();
    pty.enter("tell");
    await pty.until(/Once upon a time/);
    await pty.until(/Writing, .*Esc to stop/);
    server.kill("SIGKILL");
    await once(server, "exit");
    expect(await pty.until(/Not connected, .*Esc to stop/)).not.toContain("Writing,");
    const [, anew] = await serving(place, model.env, ...named);
    link.to(anew);
    await pty.until("The server restarted.");
    expect(await pty.prompted()).not.toContain("Esc to stop");
  },
);

test.skipIf(!hasTmux)("T7: after a restart of the server, /edit waits for the message's text", async () => {
  using place = home();
  await using model = await modelServer({ text: "One." }, { text: "Two." });
  await using link = await holdingLink();
  const named = ["--allow-host", link.host];
  const [server, address] = await serving(place, model.env, ...named);
  link.to(address);
  using pty = Pty.open(place, ["attach", link.address, "--new"], { BANYAN_TOKEN: TOKEN });
  await pty.prompted();
  await pty.exchange("hello", "One.");
  // The first message leaves the visible branch, which is sent in full.
  await pty.exchange("/edit #1 goodbye", "Two.");
  link.hold("message.read");
  server.kill("SIGKILL");
  await once(server, "exit");
  const [, anew] = await serving(place, model.env, ...named);
  link.to(anew);
  await pty.until("The server restarted.");
  await expect.poll(() => link.held).toBe(1);
  pty.type("/edit #1");
  await pty.until("/edit #1");
  pty.press("Enter");
  // The line is taken, and no message is requested twice.
  await expect.poll(() => pty.screen()).not.toMatch(/^\/edit #1 *$/m);
  expect(link.held).toBe(1);
  link.release();
  await pty.until(/^─ Reply to banyan: ─+\nhello *$/);
});

test.skipIf(!hasTmux)("T1: Ctrl-C stops a first message whose conversation is not there yet", async () => {
  using place = home();
  await using model = await modelServer({ text: "Good morning." });
  await using link = await holdingLink();
  const [, address] = await serving(place, model.env, "--allow-host", link.host);
  link.to(address);
  using pty = Pty.open(place, ["attach", link.address, "--new", "--plain"], { BANYAN_TOKEN: TOKEN });
  await pty.prompted();
  link.hold("conversation.create");
  pty.enter("delete it all");
  await expect.poll(() => link.held).toBe(1);
  pty.press("C-c");
  await pty.until("^C");
  link.release();
  await pty.until("Stopped before the turn began. Nothing was sent.");
  await pty.until("(you had written: delete it all)");
  await pty.exchange("good morning", "Good morning.");
  expect(JSON.stringify(model.asked)).not.toContain("delete it all");
});

test.skipIf(!hasTmux)(
  "T5: Ctrl-C ends the beginning while a server takes the connection and says nothing",
  async () => {
    using place = home();
    const mute = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void mute.close());
    const called = once(mute, "connection");
    await once(mute, "listening");
    const { port } = mute.address() as AddressInfo;
    using pty = Pty.open(place, ["attach", `http://127.0.0.1:${port}`], { BANYAN_TOKEN: TOKEN });
    const [socket] = await called;
    onTestFinished(() => socket.destroy());
    pty.press("C-c");
    await pty.until("[exit 130]");
  },
);
