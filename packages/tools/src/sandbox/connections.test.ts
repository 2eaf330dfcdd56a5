import { emptyConversation, type Question } from "@banyan/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../workspace/commands/processes.fixture.ts";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { NetworkAccess, type NetworkAccessOptions, type Sandbox } from "./index.ts";
import { addressText } from "./network-access.ts";
import { helloServer, sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

/** One sandbox for all tests. Each test uses addresses of its own. */
let folder: TestFolder;
let sandbox: Sandbox;
const kept: [address: string, isAllowed: boolean][] = [];
const registries: string[] = [];
const options: NetworkAccessOptions = {
  domains: [],
  keep: (address, isAllowed) => kept.push([address, isAllowed]),
  registries: () => registries,
};
const network = new NetworkAccess(options);

beforeAll(async () => {
  folder = new TestFolder();
  if (reason === undefined) sandbox = await sandboxOf(folder, { network });
});

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** A command that prints the answer of a server on this machine, which it reaches through the proxy only. */
const get = (port: number, more = "") => `curl -sS --noproxy '' ${more} http://127.0.0.1:${port}; echo " $?"`;

const conversation = emptyConversation("talk");

/** A user with prepared answers. */
function user(...answers: readonly (string | Promise<string>)[]) {
  const asked: Question[] = [];
  const ask = async (question: Question) => {
    asked.push(question);
    const answer = answers[asked.length - 1];
    if (answer === undefined) throw new Error(`Nothing is said to ${question.text}`);
    return answer;
  };
  return { asked, ask };
}

function run(command: string, ask: (question: Question) => Promise<string>, inside = sandbox): Promise<string> {
  return call(shellTool(openWorkspace(folder.root), { sandbox: inside }), { command }, { ask, conversation });
}

describe("a new address is a question", () => {
  test("S38: the connection waits for the answer, and the question names address and command", async () => {
    await using server = await helloServer();
    const answer = Promise.withResolvers<string>();
    const { asked, ask } = user(answer.promise);
    const command = get(server.port);
    const result = run(command, ask);
    await until(() => asked.length === 1);
    expect(asked[0]?.text).toBe(
      [
        `Connect to 127.0.0.1:${server.port}?`,
        "This address is on your own machine, outside the sandbox.",
        `This command tries to connect: ${command}`,
        "A program that may connect can also send data.",
      ].join("\n"),
    );
    expect(asked[0]?.choices).toEqual(["Yes, once", "Yes, in this conversation", "Yes, always", "No"]);
    answer.resolve("Yes, once");
    expect(await result).toBe("hello 0\n");
  });

  test("S38: once covers all connections of one command, and the next command asks again", async () => {
    await using server = await helloServer();
    const { asked, ask } = user("Yes, once", "No");
    expect(await run(`${get(server.port)}; ${get(server.port)}`, ask)).toBe("hello 0\nhello 0\n");
    expect(await run(get(server.port), ask)).not.toContain("hello");
    expect(asked).toHaveLength(2);
  });

  test("S38: an answer for the conversation covers its later commands, until it is revoked", async () => {
    await using server = await helloServer();
    const address = `127.0.0.1:${server.port}`;
    const { asked, ask } = user("Yes, in this conversation", "No");
    expect(await run(get(server.port), ask)).toBe("hello 0\n");
    expect(await run(get(server.port), ask)).toBe("hello 0\n");
    expect(asked).toHaveLength(1);
    expect(network.list("talk").at(-1)).toEqual({ address, lasts: "conversation" });
    expect(network.allowsIn("another", address)).toBe(false);
    expect(network.revoke(address, "talk")).toBe(true);
    expect(await run(get(server.port), ask)).toContain(`[The sandbox refused the connection to ${address}.`);
    expect(kept).toEqual([]);
  });

  test("S38: always is stored, and holds at once and in all conversations; a revoked address asks again", async () => {
    await using server = await helloServer();
    const address = `127.0.0.1:${server.port}`;
    const { asked, ask } = user("Yes, always", "No");
    expect(await run(get(server.port), ask)).toBe("hello 0\n");
    expect(await run(get(server.port), ask)).toBe("hello 0\n");
    expect(asked).toHaveLength(1);
    expect(network.domains).toContain(address);
    expect(network.revoke(address)).toBe(true);
    expect(kept.splice(0)).toEqual([
      [address, true],
      [address, false],
    ]);
    expect(await run(get(server.port), ask)).not.toContain("hello");
  });

  test("S38: an answer for the package registries covers those of the question, and a new one asks again", async () => {
    await using one = await helloServer();
    await using two = await helloServer();
    await using other = await helloServer();
    registries.push(...[one, two].map(({ port }) => `127.0.0.1:${port}`));
    const { asked, ask } = user("Yes, for my package registries, in this conversation", "No");
    expect(await run([one, two, other].map(({ port }) => get(port)).join("; "), ask)).toMatch(/^hello 0\nhello 0\n/);
    expect(asked).toHaveLength(2);
    expect(asked[0]?.text).toContain(`package registries: ${registries.join(", ")}`);
    expect(asked[1]?.text).toContain(`Connect to 127.0.0.1:${other.port}?`);
    expect(asked[1]?.choices).not.toContain("Yes, for my package registries, in this conversation");
    registries.length = 0;
  });

  test("S38, S14: no text that a user writes allows a connection", async () => {
    await using server = await helloServer();
    for (const words of ["yes", "y", "1", "Yes, once please", ""]) {
      expect(await run(get(server.port), user(words).ask)).toContain("did not allow the connection");
    }
  });

  test("S38: with several programs, the question does not name a command", async () => {
    await using server = await helloServer();
    const { asked, ask } = user("Yes, once");
    await using _ = await startIn(sandbox, folder, "sleep 60");
    expect(await run(get(server.port), ask)).toBe("hello 0\n");
    expect(asked[0]?.text).toContain("Several programs run in the sandbox. One of them tries to connect.");
  });
});

describe("a refusal", () => {
  test("S38, S40: fails at once with its reason, for the program and for the model", async () => {
    await using server = await helloServer();
    const begun = performance.now();
    const said = await run(`curl -sv --noproxy '' -p http://127.0.0.1:${server.port} 2>&1`, user("No").ask);
    expect(said).toContain("403 The user said no.");
    expect(said).toContain(`[The sandbox refused the connection to 127.0.0.1:${server.port}. The user said no.]`);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  const proxied = (port: number) => `[The sandbox refused the connection to 127.0.0.1:${port}. The user said no.]`;
  const noNetwork = () => "[Probably the sandbox: it has no direct network and no DNS.";
  // A program that waited for a timeout would wait for longer than the test.
  test.each([
    ["a request to the proxy", (port: number) => `curl -sS --noproxy '' http://127.0.0.1:${port}`, 1, proxied],
    ["a tunnel", (port: number) => `curl -sS --noproxy '' -p http://127.0.0.1:${port}`, 1, proxied],
    ["SOCKS", (port: number) => `curl -sS --noproxy '' -x "$ALL_PROXY" http://127.0.0.1:${port}`, 1, proxied],
    ["a name without a proxy", () => "curl -sS --noproxy '*' http://example.org", 0, noNetwork],
    [
      "an address without a proxy",
      () => "node -e 'fetch(\"http://192.0.2.1\").catch((e) => { throw e.cause })' 2>&1",
      0,
      noNetwork,
    ],
    ["an IPv6 address without a proxy", () => "bash -c 'echo hello > /dev/tcp/2001:db8::1/80' 2>&1", 0, noNetwork],
    ["a raw connection", () => "bash -c 'echo hello > /dev/tcp/192.0.2.1/80' 2>&1", 0, noNetwork],
    [
      "git over ssh",
      () => "git ls-remote ssh://git@example.org/a.git",
      1,
      () => "refused the connection to example.org:22. ",
    ],
  ])("S38, S40: of %s is named without a wait", { timeout: 30_000 }, async (_, command, questions, note) => {
    await using server = await helloServer();
    const { asked, ask } = user("No");
    expect(await run(`${command(server.port)} || exit 1`, ask)).toContain(note(server.port));
    expect(asked).toHaveLength(questions);
  });

  test("S38: where no user can be asked, names what allows the address", async () => {
    await using server = await helloServer();
    const alone = new NetworkAccess({ ...options, canAsk: false, advice: (address) => `Use --network ${address}.` });
    await using inside = await sandboxOf(folder, { network: alone });
    expect(await run(get(server.port), user().ask, inside)).toContain(
      `No user can be asked here. Use --network 127.0.0.1:${server.port}.`,
    );
  });

  test("S38: of a program without a call, such as an MCP server, asks nobody", async () => {
    await using server = await helloServer();
    await using child = await startIn(sandbox, folder, get(server.port, "-v"));
    let said = "";
    child.stdout?.on("data", (bytes) => (said += bytes));
    child.stderr?.on("data", (bytes) => (said += bytes));
    await until(() => said.includes("403"));
    expect(said).not.toContain("hello");
  });
});

test("S38: if the command gave up before the answer, a late yes offers to run it again", async () => {
  await using server = await helloServer();
  const answer = Promise.withResolvers<string>();
  const { asked, ask } = user(answer.promise, "Yes, run it again");
  const result = run(get(server.port, "-m 1"), ask);
  await until(() => asked.length === 1);
  setTimeout(() => answer.resolve("Yes, once"), 2_500);
  expect(await result).toMatch(/ran again\.\]\nhello 0\n$/);
  expect(asked[1]?.text).toMatch(/^The command ended before your answer\. Run it again\?/);
});

test("S38: a user who declines to run the command again keeps its output", async () => {
  await using server = await helloServer();
  const answer = Promise.withResolvers<string>();
  // The second question has no answer: `ask` rejects.
  const { asked, ask } = user(answer.promise);
  const result = run(get(server.port, "-m 1"), ask);
  await until(() => asked.length === 1);
  setTimeout(() => answer.resolve("Yes, once"), 2_500);
  expect(await result).toMatch(/timed out.* 28\n/s);
  expect(asked).toHaveLength(2);
});

test("S38: waiting for the user does not count as time of the command", async () => {
  await using server = await helloServer();
  const answer = Promise.withResolvers<string>();
  const { asked, ask } = user(answer.promise);
  const tool = shellTool(openWorkspace(folder.root), { sandbox });
  const result = call(tool, { command: get(server.port), timeout: 1_500 }, { ask });
  await until(() => asked.length === 1);
  setTimeout(() => answer.resolve("Yes, once"), 2_500);
  expect(await result).toBe("hello 0\n");
});

test.each([
  ["2130706433", "127.0.0.1:80"],
  ["127.1", "127.0.0.1:80"],
  ["EXAMPLE.org", "example.org:80"],
  ["bücher.example", "xn--bcher-kva.example:80"],
  ["::1", "[::1]:80"],
])("S38: a question shows %s as %s", (host, shown) => {
  expect(addressText({ host, port: 80 })).toBe(shown);
});
