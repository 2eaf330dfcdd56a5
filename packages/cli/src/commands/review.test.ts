import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, write } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

describe.skipIf(!hasTmux)("C15: /review", () => {
  test("asks an agent that only reads, on a separate branch; the agent that made the changes gets the findings", async () => {
    using place = home();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: place.workspace });
    const file = join(place.workspace, "a.txt");
    writeFileSync(file, "one\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    writeFileSync(file, "two\n");
    await using server = await modelServer(
      { text: "Hello." },
      write("a.txt", "three\n"),
      { text: "- a.txt:1: it was one\n- a.txt:2: there is no second line\n\nNot ready." },
      { text: "Mended." },
    );
    using pty = Pty.open(place, ["--plain", "--model", "openai-compatible/test"], {
      ...server.env,
      // git runs only in the sandbox.
      BANYAN_SANDBOX: "auto",
    });
    await pty.prompted();
    await pty.exchange("hello", "Hello.");
    await pty.exchange("/review", "Not ready.");
    const [, asked, toldOfCall] = server.asked;
    expect(asked?.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(asked?.[0]?.content).toMatch(/^You review another author[\s\S]*- Model: you are openai-compatible\/test$/);
    expect(JSON.stringify(asked?.[1]?.content)).toContain("-one\\n+two");
    // The reviewing agent has no tool for changes.
    expect(readFileSync(file, "utf8")).toBe("two\n");
    expect(JSON.stringify(toldOfCall?.at(-1)?.content)).toMatch(/no tool/i);
    const listed = await pty.exchange("/findings", "/findings n has the agent fix finding n.");
    expect(listed).toMatch(/^ {2}1 {2}a\.txt:1 {2}it was one$/m);
    await pty.exchange("/findings 2", "Mended.");
    const mend = server.asked.at(-1)?.filter(({ role }) => role !== "system");
    expect(mend?.slice(0, 2).map(({ content }) => content)).toEqual(["hello", "Hello."]);
    expect(mend?.[2]?.content).toMatch(/A review[\s\S]*\n\na\.txt:2: there is no second line$/);
  });

  test("sends no request if there is nothing to review, and gives the reason", async () => {
    using place = home();
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, ["--plain", "--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    await pty.exchange("/review", "There is nothing to review. Can't attach diff: git runs only in a sandbox");
    await pty.exchange("hello", "Hello.");
    await pty.exchange("/review", /(?:There is nothing to review[\s\S]*){2}/);
    expect(server.asked).toHaveLength(1);
  });
});
