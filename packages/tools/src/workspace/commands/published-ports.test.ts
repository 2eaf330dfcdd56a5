import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { Session, type Tool } from "@banyan/core";
import { beforeEach, expect, test } from "vitest";
import { sandboxOf, whyNoSandbox } from "../../sandbox/sandbox.fixture.ts";
import { openWorkspace } from "../files/paths.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { BackgroundCommands } from "./background.ts";
import { processesTool } from "./process-tools.ts";
import { until } from "./processes.fixture.ts";
import type { AlwaysOpenPorts } from "./published-ports.ts";
import { shellTool } from "./shell.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

const serve = (port: number) =>
  `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr SYSTEM:'echo inside' & sleep 0.3; echo up; wait`;

/** Returns what a server at an address of this machine sends, or the error's code. */
async function reach(port: number, host = "127.0.0.1"): Promise<string> {
  const socket = connect(port, host);
  try {
    return await text(socket);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Keeps ports in memory. */
function portList(): AlwaysOpenPorts & { readonly kept: [folder: string, port: number][] } {
  const kept: [string, number][] = [];
  return {
    kept,
    has: (folder, port) => kept.some((each) => each[0] === folder && each[1] === port),
    add: (...each) => kept.push(each),
  };
}

/** The tools of a folder with a sandbox, and a user who gives one answer to all questions. */
async function place(answer: string, always?: AlwaysOpenPorts) {
  const folder = new TestFolder();
  const sandbox = await sandboxOf(folder);
  const session = Session.inMemory();
  const background = new BackgroundCommands(always);
  const asked: string[] = [];
  const use = (tool: Tool, input: Readonly<Record<string, unknown>>) =>
    call(tool, input, {
      conversation: session.state,
      ask: async ({ text: question }) => {
        asked.push(question);
        return answer;
      },
      stay: (staying) => session.processes.stay({ message: "m", call: "call-1" }, staying),
    });
  return {
    asked,
    session,
    root: folder.root,
    add: (path: string) => folder.add(path, ""),
    start: (command: string) =>
      use(shellTool(openWorkspace(folder.root), { sandbox }, background), { command, background: true }),
    list: () => use(processesTool(background), {}),
    stop: (process: string) => use(processesTool(background), { process, stop: true }),
    async [Symbol.asyncDispose]() {
      await session.close();
      await sandbox[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("S39: a user opens a port of a command on 127.0.0.1 of the machine, until the command ends", async () => {
  await using user = await place("Open the port");
  expect(await user.start(serve(8311))).toMatch(
    /Running in the background as p1, which the user can open at http:\/\/127\.0\.0\.1:8311/,
  );
  expect(user.asked).toEqual([expect.stringContaining("A command listens on port 8311 in the sandbox.")]);
  expect(await reach(8311)).toBe("inside\n");
  for (const addresses of Object.values(networkInterfaces()))
    for (const { address, internal, family } of addresses ?? [])
      if (!internal && family === "IPv4") expect(await reach(8311, address)).toBe("ECONNREFUSED");
  expect(await user.list()).toContain("(http://127.0.0.1:8311)");
  expect(user.asked).toHaveLength(1);
  await user.stop("p1");
  expect(await reach(8311)).toBe("ECONNREFUSED");
});

test("S39: a port that a program of the machine uses gets another number", async () => {
  const own = createServer((socket) => socket.end("outside\n"));
  own.listen(0, "127.0.0.1");
  await once(own, "listening");
  const { port } = own.address() as AddressInfo;
  try {
    await using user = await place("Open the port");
    const said = await user.start(serve(port));
    const other = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
    expect(other).not.toBe(port);
    expect(await reach(other)).toBe("inside\n");
    expect(await reach(port)).toBe("outside\n");
  } finally {
    own.close();
  }
});

test("S39: without a yes, the port stays closed and is not asked about again", async () => {
  await using user = await place("Keep it closed");
  expect(await user.start(serve(8312))).toMatch(/as p1\]$/);
  await user.list();
  expect(user.asked).toHaveLength(1);
  expect(await reach(8312)).toBe("ECONNREFUSED");
});

test("S39: a port on which a command listens later is a question after the call, and its address the command's title", async () => {
  await using user = await place("Open the port");
  expect(await user.start(`until [ -e go ]; do sleep 0.05; done; ${serve(8313)}`)).toMatch(/as p1\]$/);
  expect(user.asked).toEqual([]);
  user.add("go");
  await until(() => user.session.state.processes.get("p1")?.title.endsWith("(http://127.0.0.1:8313)") === true);
  expect(user.asked).toHaveLength(1);
  expect(user.session.state.processesBegun).toBe(1);
  expect(await reach(8313)).toBe("inside\n");
  await user.stop("p1");
  expect(await reach(8313)).toBe("ECONNREFUSED");
});

test("S39: a port that a user always opens in a folder is no question there any more", async () => {
  const ports = portList();
  {
    await using user = await place("Always open this port in this folder", ports);
    expect(await user.start(serve(8314))).toContain("http://127.0.0.1:8314");
    expect(ports.kept).toEqual([[user.root, 8314]]);
    await user.stop("p1");
    expect(await user.start(serve(8314))).toContain("http://127.0.0.1:8314");
    expect(user.asked).toHaveLength(1);
  }
  await using other = await place("Keep it closed", ports);
  expect(await other.start(serve(8314))).toMatch(/as p1\]$/);
  expect(other.asked).toHaveLength(1);
});

test("S39, S14: no text that a user writes opens a port", async () => {
  const ports = portList();
  await using user = await place("yes, open the port", ports);
  expect(await user.start(serve(8315))).toMatch(/as p1\]$/);
  expect(await reach(8315)).toBe("ECONNREFUSED");
  expect(ports.kept).toEqual([]);
});
