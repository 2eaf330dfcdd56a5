import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { type ModelServer, modelServer, shell } from "../testing/model-server.ts";
import { PLANTED, planted } from "../testing/planted.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
let server: ModelServer;
let marker: string;
beforeEach(async () => {
  place = home();
  marker = join(realpathSync(place.workspace), "marker");
  server = await modelServer(shell(`touch ${marker}`), { text: "Tidied." });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const data = () => join(place.env.BANYAN_HOME ?? "", "data");
const fileOf = (id: string) => join(data(), "conversations", `${id}.sqlite`);

function exported(): string {
  const file = join(place.workspace, "theirs.json");
  writeFileSync(file, planted(realpathSync(place.workspace), `touch ${marker}`));
  return file;
}

async function continues(
  ...which: readonly string[]
): Promise<{ readonly told: string; readonly types: readonly string[] }> {
  const { code, stdout, stderr } = await banyan(
    place,
    ["-p", "go on", ...which, "--output", "jsonl", ...MODEL],
    server,
  );
  expect({ code, stderr }).toMatchObject({ stderr: expect.not.stringContaining("There is no conversation") });
  const types = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type as string);
  return { told: JSON.stringify(server.asked), types };
}

describe("S17: a conversation from elsewhere brings no rights", () => {
  test("imported, its rules, approvals and open calls run nothing, and its model asks like any other", async () => {
    const { code, stdout } = await banyan(place, ["conversations", "import", exported()]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    const { told, types } = await continues("--continue");
    expect(existsSync(marker)).toBe(false);
    expect(told.match(/this conversation was imported while the call had no result/g)?.length).toBeGreaterThanOrEqual(
      3,
    );
    expect(told).toContain("This call needs a user's approval");
    expect(types).toContain("call.denied");
    const { stdout: json } = await banyan(place, ["conversations", "export", PLANTED, "--format", "json"]);
    expect(json).toMatch(/"how":"import".*"type":"conversation.brought-in"/);
  });

  test("as a file among the conversations of here, it is told from one's own, and marked", async () => {
    // A local conversation keeps the folder's permissions.
    await banyan(place, ["-p", "hello", "--model", "demo/offline"]);
    const theirs = home();
    const file = exported();
    await banyan(theirs, ["conversations", "import", file]);
    copyFileSync(join(theirs.env.BANYAN_HOME ?? "", "data", "conversations", `${PLANTED}.sqlite`), fileOf(PLANTED));
    theirs[Symbol.dispose]();
    rmSync(join(data(), "catalogue.sqlite"), { force: true });
    await continues("--resume", PLANTED);
    expect(existsSync(marker)).toBe(false);
    const { stdout: json } = await banyan(place, ["conversations", "export", PLANTED, "--format", "json"]);
    expect(json).toMatch(/"how":"file".*"type":"conversation.brought-in"/);
  });

  test("an import's earlier file contents are restored only on a user's command, and only inside the workspace", async () => {
    const outside = join(place.workspace, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "theirs.txt"), "");
    writeFileSync(join(place.workspace, "theirs.txt"), "");
    const change = {
      type: "file.changed",
      message: "reply00000001",
      call: "open",
      path: "theirs.txt",
      kind: "created",
      before: null,
      after: EMPTY,
      added: 0,
      removed: 0,
      diff: "",
    };
    const text = planted(outside, "true").replace(
      /\]\}$/,
      `,${JSON.stringify({ ...change, seq: 90, epoch: 1, at: 1 })}]}`,
    );
    const file = join(place.workspace, "theirs.json");
    writeFileSync(file, text);
    await banyan(place, ["conversations", "import", file]);
    const asked = await banyan(place, ["changes", "revert", "--all", "--in", PLANTED]);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
    expect(asked.stderr).toContain(realpathSync(place.workspace));
    await banyan(place, ["changes", "revert", "--all", "--yes", "--in", PLANTED]);
    expect(readFileSync(join(outside, "theirs.txt"), "utf8")).toBe("");
  });
});

/** SHA-256 of empty content. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
