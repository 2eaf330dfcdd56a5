import { spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { existsSync } from "node:fs";
import { NotExecutedError } from "@banyan/core/hosts";
import { expect, onTestFinished, test, vi } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { living, OwnTime, uniqueSleep, until } from "./processes.fixture.ts";
import { type ShellOptions, shellTool } from "./shell.ts";

function shell(folder: TestFolder, options?: ShellOptions) {
  return shellTool(openWorkspace(folder.root), options);
}

const linux = test.skipIf(process.platform !== "linux");

test("B36: shell returns the command's output in the order of printing", async () => {
  using folder = new TestFolder();
  const command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; pwd";
  expect(await call(shell(folder), { command })).toBe(`out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n${folder.root}\n`);
});

test("an exit code other than 0 is at the end of the result", async () => {
  using folder = new TestFolder();
  const tool = shell(folder);
  expect(await call(tool, { command: "echo no; exit 3" })).toBe("no\nexit code 3");
  expect(await call(tool, { command: "printf no; false" })).toBe("no\nexit code 1");
  expect(await call(tool, { command: "kill -SEGV $$" })).toBe("exit code 139");
  expect(await call(tool, { command: "no-such-command" })).toMatch(/not found\nexit code 127$/);
  expect(await call(tool, { command: "true" })).toBe("[no output]");
  expect(await call(tool, { command: "-x" })).toMatch(/not found\nexit code 127$/);
});

test.each([
  ["a quoted heredoc is passed on as it is", "cat <<'EOF'\na\\n $HOME `x` \\$y\nEOF", "a\\n $HOME `x` \\$y\n"],
  ["variables are there in a command with a pipe", 'echo "$GREETING" | cat | tr a-z A-Z', "HELLO\nRM -F X\n"],
  ["a variable with line ends arrives whole and is not run", 'printf %s "$GREETING"', "hello\nrm -f x"],
  ["a command that prints nothing and fails has its code", "exit 7", "exit code 7"],
  [
    "git log does not wait in a pager",
    "git init -q; git -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m first; git log --format=%s",
    "first\n",
  ],
])("%s", async (_, command, answer) => {
  using folder = new TestFolder({ x: "" });
  const pager = process.env.PAGER;
  process.env.PAGER = "sleep 40; cat";
  try {
    const env = { GREETING: "hello\nrm -f x" };
    expect(await call(shell(folder, { env }), { command, timeout: 20_000 })).toBe(answer);
  } finally {
    if (pager === undefined) delete process.env.PAGER;
    else process.env.PAGER = pager;
  }
  expect(existsSync(folder.path("x"))).toBe(true);
});

test("bytes that are not UTF-8 cause no fault, wherever they are cut", async () => {
  using folder = new TestFolder();
  const command = "printf 'gr\\374n '; sleep 0.1; printf '\\303'; sleep 0.1; printf '\\244 \\303'";
  expect(await call(shell(folder), { command })).toBe("gr\ufffdn ä \ufffd");
});

linux("what asks for a password or a yes fails at once", async () => {
  using folder = new TestFolder();
  const ask = "read -p 'Password: ' -s word < /dev/tty && echo \"got $word\"";
  expect(await call(shell(folder), { command: `bash -c '${ask.replaceAll("'", '"')}'`, timeout: 20_000 })).toMatch(
    /\/dev\/tty: No such device or address\nexit code 1$/,
  );
  expect(await call(shell(folder), { command: 'read -p "Go on? " yes || echo none', timeout: 20_000 })).toMatch(
    /none\n$/,
  );
});

test("S36: the report of a command that cannot start says that it did not run", async () => {
  const folder = new TestFolder();
  const tool = shell(folder);
  folder[Symbol.dispose]();
  for (const background of [false, true])
    await expect(call(tool, { command: "true", background })).rejects.toBeInstanceOf(NotExecutedError);
});

test("a command has no input to wait for", async () => {
  using folder = new TestFolder();
  expect(await call(shell(folder), { command: "cat; read line; echo end" })).toBe("end\n");
});

test("S10: a command does not see the program's secrets, unless they are listed", async () => {
  using folder = new TestFolder();
  process.env.BANYAN_TEST_API_KEY = "hidden";
  process.env.BANYAN_TEST_PLAIN = "seen";
  try {
    const command = 'echo "$BANYAN_TEST_API_KEY,$BANYAN_TEST_PLAIN,$MY_TOKEN"';
    expect(await call(shell(folder), { command })).toBe(",seen,\n");
    expect(await call(shell(folder, { env: { MY_TOKEN: "t", BANYAN_TEST_PLAIN: undefined } }), { command })).toBe(
      ",,t\n",
    );
  } finally {
    delete process.env.BANYAN_TEST_API_KEY;
    delete process.env.BANYAN_TEST_PLAIN;
  }
});

test("S12: escape sequences are stripped from the result and from progress", async () => {
  using folder = new TestFolder();
  const shown: string[] = [];
  const command = String.raw`printf '\033[31mred\033[0m \033]0;ti'; sleep 0.1; printf 'tle\007end\n'`;
  expect(await call(shell(folder), { command }, { progress: (text) => shown.push(text) })).toBe("red end\n");
  expect(shown.join("")).toBe("red end\n");
});

test("characters that arrive in pieces are put together", async () => {
  using folder = new TestFolder();
  expect(await call(shell(folder), { command: String.raw`printf '\xe2\x82'; sleep 0.1; printf '\xac\n'` })).toBe("€\n");
});

test("B17: output is shown while the command runs", async () => {
  using folder = new TestFolder();
  const tool = shell(folder);
  const shown: string[] = [];
  const command = "echo first; until test -e go; do sleep 0.02; done; echo second";
  const result = call(tool, { command }, { progress: (text) => shown.push(text) });
  await until(() => shown.join("") === "first\n");
  folder.add("go", "");
  expect(await result).toBe("first\nsecond\n");
  expect(shown.join("")).toBe("first\nsecond\n");
});

test("F18: shell keeps head and tail of an endless output, in bounded memory and with bounded progress", async () => {
  using folder = new TestFolder();
  const before = process.memoryUsage().rss;
  let most = 0;
  let shown = 0;
  let pieces = 0;
  const ended = call(
    shell(folder),
    { command: "echo begin; yes", timeout: 3000 },
    {
      progress(piece) {
        pieces += 1;
        shown += piece.length;
        most = Math.max(most, process.memoryUsage().rss);
      },
    },
  );
  const text = await ended.catch((error: unknown) => (error as Error).message);
  expect(text).toMatch(
    /^begin\n(y\n)+\n?\[\.\.\. \d{7,} bytes dropped \.\.\.\]\n\n?(y\n)+\n?(y\n?)?\[timed out after 3000 ms; the command and its child processes were ended\]$/,
  );
  expect(Buffer.byteLength(text)).toBeLessThan(65_536);
  expect(most - before).toBeLessThan(200_000_000);
  expect(pieces).toBeLessThan(150);
  expect(shown).toBeLessThan(150 * 8200);
});

test("T67: a command that takes too long is ended, its call fails, and its output is kept", async () => {
  using folder = new TestFolder();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  // The timeout expires at the first output, whenever that comes.
  const progress = () => void vi.advanceTimersByTime(300);
  await expect(call(shell(folder), { command: "echo begun; sleep 1000", timeout: 300 }, { progress })).rejects.toThrow(
    "begun\n[timed out after 300 ms; the command and its child processes were ended]",
  );
});

test("a call that is cancelled before its start runs no command", async () => {
  using folder = new TestFolder();
  const signal = AbortSignal.abort(new Error("cancelled"));
  await expect(call(shell(folder), { command: "touch made" }, { signal })).rejects.toThrow("cancelled");
  expect(folder.names()).toEqual([]);
});

linux.each([
  ["a plain command", (id: string) => `sleep ${id}`],
  ["a command that ignores SIGTERM", (id: string) => `trap '' TERM; sh -c 'trap "" TERM; sleep ${id}; sleep ${id}'`],
  ["a double fork", (id: string) => `(sleep ${id} & sleep ${id} &) ; sleep ${id}`],
  [
    "a session of its own",
    (id: string) => `setsid sleep ${id} & setsid sh -c 'trap "" TERM; sleep ${id}; :' & sleep ${id}`,
  ],
  ["a session of its own without the environment", (id: string) => `env -i setsid sleep ${id} & sleep ${id}`],
  [
    "one that ignores SIGTERM besides",
    (id: string) => `env -i setsid sh -c 'trap "" TERM; sleep ${id}; sleep ${id}' & sleep ${id}`,
  ],
])("F17: after a cancel nothing is left of %s", async (_, command) => {
  using folder = new TestFolder();
  const id = uniqueSleep();
  const cancel = new AbortController();
  const result = call(shell(folder), { command: `echo begun; ${command(id)}` }, { signal: cancel.signal });
  await until(() => living(`sleep\0${id}`).length > 0);
  using time = new OwnTime();
  cancel.abort(new Error("cancelled"));
  expect(await result).toMatch(/^begun\n.*\[cancelled; the command and its child processes were ended\]$/s);
  expect(time.milliseconds).toBeLessThan(3000);
  expect(living(id)).toEqual([]);
});

linux("T3: in a hurry, a cancelled command that ignores signals is killed at once", async () => {
  using folder = new TestFolder();
  const id = uniqueSleep();
  const [cancel, hurry] = [new AbortController(), new AbortController()];
  const command = `trap '' TERM INT; sleep ${id}; sleep ${id}`;
  const result = call(shell(folder), { command }, { signal: cancel.signal, hurry: hurry.signal });
  await until(() => living(`sleep\0${id}`).length > 0);
  using time = new OwnTime();
  cancel.abort(new Error("cancelled"));
  hurry.abort();
  await result;
  // Without `hurry`, the process would have two seconds.
  expect(time.milliseconds).toBeLessThan(1900);
  expect(living(id)).toEqual([]);
});

linux.each([
  ["holds the output open", (id: string) => `sleep ${id} &`],
  ["holds the output open in a session of its own", (id: string) => `(setsid sleep ${id} &)`],
  ["let go of the output", (id: string) => `sleep ${id} >/dev/null 2>&1 &`],
  ["let go of the output and has a session of its own", (id: string) => `(setsid nohup sleep ${id} >/dev/null 2>&1 &)`],
  ["ignores SIGTERM", (id: string) => `(trap '' TERM; sleep ${id}) &`],
])("F17: the end of a command ends a background process that %s", async (_, command) => {
  using folder = new TestFolder();
  const id = uniqueSleep();
  using time = new OwnTime();
  expect(await call(shell(folder), { command: `${command(id)}\necho done` })).toMatch(/^done\n$/);
  expect(time.milliseconds).toBeLessThan(10_000);
  expect(living(`sleep\0${id}`)).toEqual([]);
});

linux("F17: what a command writes just before it ends is not lost when a background process stays", async () => {
  using folder = new TestFolder();
  const text = await call(shell(folder), { command: "sleep 1000 & head -c 50000 /dev/zero | tr '\\0' x" });
  expect(text).toBe("x".repeat(50_000));
});

linux.each(["process.exit(0)", "throw new Error('broken')", "process.kill(process.pid, 'SIGINT')"])(
  "F17: the end of the program by %s ends its commands",
  async (ending) => {
    using folder = new TestFolder();
    const id = uniqueSleep();
    const program = `
      import { openWorkspace, shellTool } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
      import { existsSync } from "node:fs";
      process.on("SIGINT", () => process.exit(130));
      const signal = new AbortController().signal;
      shellTool(openWorkspace(".")).execute(
        { command: "setsid sleep ${id} & trap '' TERM; touch begun; sleep ${id}; sleep ${id}" },
        { signal, progress() {}, conversation: { id: "c" } },
      );
      setInterval(() => { if (existsSync("begun")) { ${ending} } }, 10);`;
    folder.add("program.ts", program);
    const { status } = spawnSync(process.execPath, ["program.ts"], { cwd: folder.root, stdio: "ignore" });
    expect(status).not.toBeNull();
    expect(existsSync(folder.path("begun"))).toBe(true);
    await until(() => living(`sleep\0${id}`).length === 0);
  },
);

test("many simultaneous commands leave no listener and no timer", async () => {
  using folder = new TestFolder();
  const tool = shell(folder);
  const before = process.listenerCount("exit");
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, number) => call(tool, { command: `echo ${number}` }, { signal })),
  );
  process.off("warning", onWarning);
  expect(results).toEqual(Array.from({ length: 20 }, (_, number) => `${number}\n`));
  expect(process.listenerCount("exit")).toBe(before);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(warnings).toEqual([]);
});

test("F82: a progress bar appears as on a terminal at the end, without counting its steps", async () => {
  using folder = new TestFolder();
  const tool = shell(folder);
  const bar = 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); printf "\\r[%-20s] %d of 2000" "####" $i; done; echo';
  expect(await call(tool, { command: `echo before; ${bar}; echo after` })).toBe(
    "before\n[####                ] 2000 of 2000\nafter\n",
  );
  const two = 'printf "a 0\\nb 0\\n"; for i in 1 2 3; do printf "\\033[2Aa $i\\033[K\\nb $i\\033[K\\n"; done; false';
  expect(await call(tool, { command: two })).toBe("a 3\nb 3\nexit code 1");
  const many = 'for i in $(seq 1 40); do printf "%02000d\\rline %d \\n" 0 $i; done; yes 123456789 | head -c 100000';
  const text = await call(tool, { command: many });
  const [, dropped = ""] = /\n\[\.\.\. (\d+) bytes dropped \.\.\.\]\n/.exec(text) ?? [];
  const whole = Array.from(
    { length: 40 },
    (_, at) => `line ${at + 1} ${"0".repeat(2000 - `line ${at + 1} `.length)}\n`,
  ).join("");
  expect(Buffer.byteLength(text.replace(/\n\[\.\.\. \d+ bytes dropped \.\.\.\]\n/, "")) + Number(dropped)).toBe(
    whole.length + 100_000,
  );
});

test("S10: a secret that cursor moves put together is removed from the result", async () => {
  using folder = new TestFolder();
  const redaction = () => {
    let held = "";
    return {
      push(text: string) {
        held += text;
        return "";
      },
      end: () => held.replaceAll("hunter2-secret", "[redacted]"),
    };
  };
  const command = "printf 'xxxxxxx-secret\\rhunter2\\n'; printf 'hunter2-secre_\\bt\\n'";
  expect(await call(shell(folder, { redaction }), { command })).toBe("[redacted]\n[redacted]\n");
});
