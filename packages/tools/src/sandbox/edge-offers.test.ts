import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { emptyConversation, type Question } from "@banyan/core";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { metPlaces } from "./edge-notes.ts";
import { NetworkAccess, type Sandbox } from "./index.ts";
import { helloServer, sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

const NETWORK = "Yes, run it once with the network of this machine";
const OUTSIDE = "Yes, run it once outside the sandbox";

let folder: TestFolder;
let sandbox: Sandbox;
let hidden: readonly string[] = [];
const network = new NetworkAccess({ domains: [] });

beforeAll(async () => {
  folder = new TestFolder();
  const hiddenNow = async () => hidden;
  if (reason === undefined)
    sandbox = await sandboxOf(folder, { network, exceptions: ["network", "outside"], hidden: hiddenNow });
});

afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Runs a command for a user with one prepared answer. */
async function run(command: string, answer?: string, inside = sandbox) {
  const asked: Question[] = [];
  const ask = async (question: Question) => {
    asked.push(question);
    if (answer === undefined || asked.length > 1) throw new Error("No user is here.");
    return answer;
  };
  const tool = shellTool(openWorkspace(folder.root), { sandbox: inside });
  return { said: await call(tool, { command }, { ask, conversation: emptyConversation("talk") }), asked };
}

describe.skipIf(reason !== undefined)("a command that failed at a limit of the sandbox", () => {
  let outside = "";
  beforeEach(() => {
    outside = join(folder.outside, "a");
  });

  test("S40: runs once outside the sandbox after a yes to a question with the whole command", async () => {
    const command = `echo here > ${outside}`;
    const { said, asked } = await run(command, OUTSIDE);
    expect(asked.map(({ choices }) => choices)).toEqual([[OUTSIDE, "No"]]);
    expect(asked[0]?.text.split("\n")).toEqual([
      "The command failed at a limit of the sandbox. Run it again?",
      `${outside} is read-only.`,
      command,
      "Outside the sandbox, the command has all your rights.",
    ]);
    expect(readFileSync(outside, "utf8")).toBe("here\n");
    expect(said).toMatch(/\[The user allowed one run outside the sandbox, and the command ran again\.\]\n$/);
    // The next command runs in the sandbox again.
    expect((await run(`rm ${outside}`, "No")).asked).toHaveLength(1);
    expect(existsSync(outside)).toBe(true);
  });

  test("S40, S14: any answer that is no listed yes keeps the sandbox, and the model learns about the no", async () => {
    const touch = `touch ${outside}`;
    const declined = "[The user did not allow the command to run again without this limit of the sandbox.]";
    rmSync(outside, { force: true });
    for (const answer of ["No", "yes", "1", NETWORK, `${OUTSIDE} `])
      expect((await run(touch, answer)).said).toContain(declined);
    // A user who cannot be asked has said nothing.
    expect((await run(touch)).said).not.toContain(declined);
    expect(existsSync(outside)).toBe(false);
  });

  test("S40: the question names paths that rules deny, because only the sandbox hides these paths", async () => {
    hidden = ["a", "b", "c", "d", "e"].map((name) => folder.add(name, ""));
    const { asked } = await run(`touch ${outside}`, "No");
    const [a, b, c] = hidden;
    expect(asked[0]?.text).toContain(`It could read paths that your rules deny: ${a}, ${b}, ${c} and 2 more.`);
    hidden = [];
  });

  test("S40: runs again with the network of this machine, if the kernel counted attempts without the proxy", async () => {
    await using server = await helloServer();
    // A datagram to a resolver that is not there: the kernel counts it, and it leaves no machine.
    const lookup = "echo x > /dev/udp/127.0.0.1/9; echo 'Could not resolve host: example.org'";
    const get = `curl -s --noproxy '*' http://127.0.0.1:${server.port}`;
    const { said, asked } = await run(`${lookup}; touch ${outside}; ${get}`, NETWORK);
    expect(asked[0]?.choices).toEqual([NETWORK, OUTSIDE, "No"]);
    expect(asked[0]?.text).toContain("can also reach your servers");
    expect(said).toMatch(/hello$/);
    // All other limits held.
    expect(existsSync(outside)).toBe(false);
  });

  test("S40: is told apart from its output: a lookup offers the network, the same words alone offer nothing", async () => {
    const lookup = await run("curl -sS --noproxy '*' http://example.invalid", "No");
    expect(lookup.asked[0]?.choices).toEqual([NETWORK, OUTSIDE, "No"]);
    for (const line of [
      "curl: (6) Could not resolve host: example.invalid",
      `touch: cannot touch '${outside}': Read-only file system`,
      "cat: ~/.ssh/config: No such file or directory",
      "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
    ]) {
      folder.add("output.txt", line);
      expect((await run("cat output.txt; exit 1", OUTSIDE)).asked).toEqual([]);
    }
    expect((await run(`touch ${outside} || true`, OUTSIDE)).asked).toEqual([]);
  });

  test("S40: offers nothing for a command that no question can show whole", async () => {
    for (const more of [" ".repeat(1_500), "\n".repeat(15)])
      expect((await run(`touch ${outside}${more}`, OUTSIDE)).asked).toEqual([]);
  });

  test("S40: offers only the exceptions of the sandbox, and nothing where no user can be asked", async () => {
    await using closed = await sandboxOf(folder, { network });
    expect((await run(`touch ${outside}`, OUTSIDE, closed)).asked).toEqual([]);
    const alone = new NetworkAccess({ domains: [], canAsk: false });
    await using unattended = await sandboxOf(folder, { network: alone, exceptions: ["outside"] });
    expect((await run(`touch ${outside}`, OUTSIDE, unattended)).asked).toEqual([]);
  });
});

test("S40: no output has a place at which a command failed, if the command does not name the place", () => {
  const around = { folder: "/work", home: "/home/me", placeLimit: () => "read-only" as const };
  const line = fc.constantFrom("/usr/a: EROFS", "touch: '/usr/b': Read-only file system", "~/c: EACCES");
  fc.assert(
    fc.property(
      fc.array(fc.oneof(line, fc.string())),
      fc.constantFrom("npm test", "cat a/b", "ls /usr"),
      (lines, own) => {
        expect(metPlaces(own, lines.join("\n"), around)).toEqual([]);
      },
    ),
  );
  expect(metPlaces("touch /usr/a", "touch: '/usr/a': Read-only file system", around)).toEqual(["/usr/a is read-only."]);
});
