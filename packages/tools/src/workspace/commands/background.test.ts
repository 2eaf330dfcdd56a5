import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createId, Session, type Tool, type ToolContext } from "@banyan/core";
import { expect, onTestFinished, test } from "vitest";
import { workspaceTools } from "../index.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { living, uniqueSleep, until } from "./processes.fixture.ts";

const linux = test.skipIf(process.platform !== "linux");

/** The tools of a folder, and a conversation with background commands. */
class Place implements AsyncDisposable {
  readonly folder = new TestFolder();
  readonly session = Session.inMemory();
  /** The ends of background commands. */
  readonly ends: object[] = [];
  readonly #tools: readonly Tool[] = workspaceTools({ root: this.folder.root });

  /** Starts a background command. */
  start(command: string, more: object = {}, context: Partial<ToolContext> = {}): Promise<string> {
    return this.use("shell", { command, background: true, ...more }, context);
  }

  use(name: string, input: Readonly<Record<string, unknown>>, context: Partial<ToolContext> = {}): Promise<string> {
    const tool = this.#tools.find((one) => one.name === name) as Tool;
    return call(tool, input, {
      conversation: this.session.state,
      stay: async (staying) => {
        staying.over.then((end) => this.ends.push(end)).catch(() => {});
        return this.session.processes.stay({ message: createId(), call: "call-1" }, staying);
      },
      ...context,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session.close();
    this.folder[Symbol.dispose]();
  }
}

test("C6: a background command returns its first output and a name, and continues", async () => {
  await using place = new Place();
  const command =
    "echo ready; until test -e go; do sleep 0.02; done; echo went; until test -e end; do sleep 0.02; done";
  expect(await place.start(command)).toBe("ready\n[Running in the background as p1]");
  expect(await place.use("processes", {})).toBe(`p1 runs: ${command}`);
  expect(await place.use("processes", { process: "p1" })).toBe("[p1 runs]");
  const more = place.use("processes", { process: "p1", wait: 60_000 });
  place.folder.add("go", "");
  expect(await more).toBe("went\n[p1 runs]");
  expect(await place.use("processes", { process: "p1", from: 2 })).toBe("ady\nwent\n[p1 runs]");
  place.folder.add("end", "");
  await until(() => place.ends.length === 1);
  expect(place.ends).toEqual([{ outcome: "exit code 0" }]);
  expect(await place.use("processes", { process: "p1" })).toBe("[p1 has ended: exit code 0]");
  expect(await place.use("processes", {})).toBe(`p1 has ended (exit code 0): ${command}`);
});

test("C6: a background command that ends at once returns like any other; a command that cannot start gives its reason", async () => {
  await using place = new Place();
  expect(await place.start("echo no; exit 3")).toBe("no\nexit code 3");
  expect(await place.start("true")).toBe("[no output]");
  // The machine's speed decides whether the timeout comes before the first output is complete.
  const slow = place.start("echo begun; sleep 1000", { timeout: 300 });
  expect(await slow.catch((error: unknown) => (error as Error).message)).toMatch(
    /^(begun\n)?\[(timed out after 300 ms; the command|Running in the background as p1)/,
  );
  await expect
    .poll(() => place.use("processes", {}))
    .toMatch(/^(No command|p1 has ended \(it was ended after 300 ms\))/);
  const running = [...place.session.state.processes.values()].filter(({ outcome }) => outcome === undefined);
  expect(running).toEqual([]);
  await expect(place.start("touch made", {}, { signal: AbortSignal.abort(new Error("cancelled")) })).rejects.toThrow(
    "cancelled",
  );
  expect(place.folder.names()).toEqual([]);
});

test("C6: the model can write to a command until its input is closed or it has ended", async () => {
  await using place = new Place();
  await place.start("echo '>'; while read line; do echo \"heard $line\"; done; echo over; exit 4");
  expect(await place.use("process_input", { process: "p1", typed: "one\ntwo\n" })).toMatch(
    /^heard one\nheard two\n\[p1 runs/,
  );
  expect(await place.use("process_input", { process: "p1", typed: "three\n", end: true })).toMatch(
    /^heard three\nover\n\[p1 (runs|has ended: exit code 4)\]$/,
  );
  await until(() => place.ends.length === 1);
  await expect(place.use("process_input", { process: "p1", typed: "four\n" })).rejects.toThrow(
    "p1 has ended and takes no input any more.",
  );
  await place.start("exec 0<&-; echo closed; sleep 1000");
  await place.use("process_input", { process: "p2", typed: "x\n", end: true });
  await expect(place.use("process_input", { process: "p2", typed: "y\n" })).rejects.toThrow(
    "The standard input of p2 is closed.",
  );
  await place.start("echo deaf; sleep 1000");
  const signal = AbortSignal.abort();
  const written = await Promise.allSettled(
    Array.from({ length: 40 }, () =>
      place.use("process_input", { process: "p3", typed: "x".repeat(30_000) }, { signal }),
    ),
  );
  expect(written.at(0)?.status).toBe("fulfilled");
  expect(written.at(-1)).toMatchObject({
    reason: { message: expect.stringMatching(/^p3 does not read its standard input: .* Nothing was sent\.$/) },
  });
});

test("C6: an unknown name, also a name of another conversation, is an error in one sentence", async () => {
  await using place = new Place();
  await place.start("echo here; sleep 1000");
  for (const name of ["p2", "", "p", "__proto__", "p1 ", "\u001b[2J", "p1\n", "../p1", "9".repeat(5000)]) {
    for (const [tool, more] of [
      ["processes", {}],
      ["processes", { stop: true }],
      ["process_input", { typed: "x" }],
    ] as const)
      await expect(place.use(tool, { process: name, ...more })).rejects.toThrow(
        /^There is no command ".{0,130}"\. To list/,
      );
  }
  const conversation = Session.inMemory().state;
  await expect(place.use("processes", { process: "p1" }, { conversation })).rejects.toThrow(
    /^There is no command "p1"\./,
  );
  expect(await place.use("processes", {}, { conversation })).toBe("No command runs in the background.");
});

linux("C6, F17: it is stopped with all that it started, whatever that ignores", async () => {
  await using place = new Place();
  const id = uniqueSleep();
  await place.start(
    `trap '' TERM INT HUP; (setsid sh -c 'trap "" TERM; sleep ${id}; sleep ${id}' &); sleep ${id} & echo begun; sleep ${id}; sleep ${id}`,
  );
  await until(() => living(`sleep\0${id}`).length === 3);
  expect(await place.use("processes", { process: "p1", stop: true })).toBe("[p1 has ended: it was stopped]");
  expect(living(id)).toEqual([]);
  // The model stopped the command, so it gets no report.
  expect(place.ends).toEqual([{ outcome: "it was stopped", known: true }]);
  expect(await place.use("processes", { process: "p1", stop: true })).toBe("[p1 has ended: it was stopped]");
});

linux("C6, F17: a shell that ends takes along what it left behind", async () => {
  await using place = new Place();
  const id = uniqueSleep();
  await place.start(`echo begun; (setsid sleep ${id} &); until test -e go; do sleep 0.02; done`);
  await until(() => living(`sleep\0${id}`).length === 1);
  place.folder.add("go", "");
  await until(() => place.ends.length === 1);
  expect(living(id)).toEqual([]);
});

linux("C6, F17: it ends with its conversation, and what is told says so", async () => {
  const place = new Place();
  onTestFinished(() => place.folder[Symbol.dispose]());
  const id = uniqueSleep();
  const before = process.listenerCount("exit");
  const command = `trap '' TERM; echo begun; sleep ${id}; sleep ${id}`;
  await Promise.all([place.start(command), place.start(command)]);
  expect(place.session.state.processes.size).toBe(2);
  await place.session.close();
  expect(living(id)).toEqual([]);
  const { processes } = place.session.state;
  expect([...processes.values()].map(({ outcome }) => outcome)).toEqual(
    Array(2).fill("it was ended with the conversation that it belonged to"),
  );
  expect(process.listenerCount("exit")).toBe(before);
  await expect(place.start("echo late; sleep 1000")).rejects.toThrow(/closed/);
  expect(living(id)).toEqual([]);
});

test.runIf(process.env.BANYAN_LONG)(
  "C6, F18: of a flood the end is kept, what is left out is said, and it fills no memory",
  async () => {
    await using place = new Place();
    const before = process.memoryUsage().rss;
    const first = await place.start("echo begin; yes");
    expect(first).toMatch(/^\[\.\.\. \d+ characters (left out|dropped).*\.\.\.\]\n(y\n)+/);
    expect(first.length).toBeLessThan(41_000);
    const at = await place.use("processes", { process: "p1", from: 0 });
    expect(at).toMatch(/^(\[\.\.\. \d+ characters dropped: [^\n]*\]\n)?/);
    await until(() => place.folder.names().length === 0);
    expect(await place.use("processes", { process: "p1", from: Number.MAX_SAFE_INTEGER })).toMatch(/^\[p1 runs\]$/);
    expect((await place.use("processes", { process: "p1" })).length).toBeLessThan(41_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    await place.use("processes", { process: "p1", stop: true });
  },
);

test.runIf(process.env.BANYAN_LONG)(
  "C6: hundreds that are asked for at once are as many as may, and the others are told",
  async () => {
    await using place = new Place();
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, number) => place.start(`echo ${number}; sleep 1000`)),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(290);
    expect(new Set(refused.map(({ reason }) => reason.message))).toEqual(
      new Set(["10 commands run in the background, which is the maximum. Stop one of them first."]),
    );
    expect(place.session.state.processes.size).toBe(10);
    await place.use("processes", { process: "p4", stop: true });
    expect(await place.start("echo again; sleep 1000")).toBe("again\n[Running in the background as p11]");
  },
);

linux("C6, F17: a program that ends does not wait for it, and leaves nothing", () => {
  using folder = new TestFolder();
  const id = uniqueSleep();
  folder.add(
    "program.ts",
    `import { Session, createId } from ${JSON.stringify(new URL("../../../../core/src/index.ts", import.meta.url).href)};
     import { workspaceTools } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
     const session = Session.inMemory();
     const shell = workspaceTools({ root: "." }).find(({ name }) => name === "shell");
     await shell.execute(
       { command: "trap '' TERM; setsid sleep ${id} & touch begun; echo begun; sleep ${id}; sleep ${id}", background: true },
       {
         signal: new AbortController().signal,
         conversation: session.state,
         stay: (staying) => session.processes.stay({ message: createId(), call: "call-1" }, staying),
       },
     );`,
  );
  const { status } = spawnSync(process.execPath, ["program.ts"], { cwd: folder.root, stdio: "ignore" });
  expect(status).toBe(0);
  expect(existsSync(folder.path("begun"))).toBe(true);
  expect(living(id)).toEqual([]);
});

linux("F80, K23: a command in the background that waits for input is told as such, with how to end it", async () => {
  await using place = new Place();
  const waits = (name: string) =>
    `, and waits for input: write it with process_input, or end it with {"process":"${name}","typed":"","end":true}`;
  expect(await place.start("echo up; cat | sort")).toBe(`up\n[Running in the background as p1${waits("p1")}]`);
  expect(await place.use("processes", {})).toBe(`p1 runs${waits("p1")}: echo up; cat | sort`);
  expect(await place.use("process_input", { process: "p1", typed: "a\n", end: true })).toBe(
    "a\n[p1 has ended: exit code 0]",
  );
  const node = (script: string) => `exec ${process.execPath} -e 'console.log("up"); ${script}'`;
  const programs = [
    ["echo up; read name", true],
    [node('require("node:readline").createInterface({ input: process.stdin })'), true],
    ["echo up; exec sleep 30", false],
    ["echo up; sleep 30 | cat", false],
    [node('require("node:http").createServer().listen(0, "127.0.0.1"); process.stdin.resume()'), false],
  ] as const;
  for (const [index, [command, isWaiting]] of programs.entries()) {
    const name = `p${index + 2}`;
    await place.start(command);
    expect(await place.use("processes", { process: name }), command).toBe(
      `[${name} runs${isWaiting ? waits(name) : ""}]`,
    );
    await place.use("processes", { process: name, stop: true });
  }
});

test("F82: each reading of a background progress bar has its current step", async () => {
  await using place = new Place();
  const command =
    'printf "1 %%"; for i in $(seq 2 500); do printf "\\r$i %%"; done; until test -e go; do sleep 0.02; done; printf "\\r501 %%\\r502 %%\\n"; until test -e end; do sleep 0.02; done; echo end';
  expect(await place.start(command)).toBe("500 %\n[Running in the background as p1]");
  const more = place.use("processes", { process: "p1", wait: 60_000 });
  place.folder.add("go", "");
  expect(await more).toBe("\n502 %\n[p1 runs]");
  expect(await place.use("processes", { process: "p1", from: 0 })).toBe("500 %\n502 %\n[p1 runs]");
  place.folder.add("end", "");
  await until(() => place.ends.length === 1);
  expect(await place.use("processes", { process: "p1" })).toBe("end\n[p1 has ended: exit code 0]");
});
