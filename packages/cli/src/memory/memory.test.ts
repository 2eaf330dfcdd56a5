import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";

let place: Home;
beforeEach(() => {
  place = home();
  // Memory is off until the user agrees (S26).
  settings({ memory: { enabled: true } });
});
afterEach(() => place[Symbol.dispose]());

function settings(value: object): void {
  const config = join(place.env.BANYAN_HOME ?? "", "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify(value));
}

const run = (...args: readonly string[]) => banyan(place, ["memory", ...args]);

describe("B45: banyan memory", () => {
  test("remembers a fact, finds it by its words, and forgets it", async () => {
    expect(await run()).toMatchObject({ code: 0, stdout: "Memory has no entries yet.\n" });
    expect(await run("add", "the build runs on Tuesdays")).toMatchObject({
      code: 0,
      stdout: "Remembered as 1: the build runs on Tuesdays\n",
    });
    expect((await run("list")).stdout).toMatch(/^1 +fact .* the build runs on Tuesdays/);
    expect((await run("search", "tuesday", "builds")).stdout).toMatch(/^1 +fact/);
    expect((await run("search", "wednesday")).stdout).toBe("Nothing found.\n");
    const [entry] = JSON.parse((await run("list", "--output", "json")).stdout);
    expect(entry).toMatchObject({ id: 1, kind: "fact", text: "the build runs on Tuesdays" });
    expect(await run("remove", "1")).toMatchObject({ code: 0, stdout: "Forgot 1.\n" });
    expect(await run("remove", "1")).toMatchObject({
      code: 2,
      stderr: "banyan: There is no entry 1. banyan memory list shows the numbers.\n",
    });
  });

  test("S26: stores nothing before the user has agreed to memory, and names the command", async () => {
    settings({});
    expect(await run("add", "the build runs on Tuesdays")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("banyan config set memory.enabled true"),
    });
    expect((await run("list")).stdout).toBe("Memory has no entries yet.\n");
  });

  test("S10: keeps no secret", async () => {
    const { stdout } = await run("add", "the key is AKIAIOSFODNN7EXAMPLE");
    expect(stdout).not.toContain("AKIAIOSFODNN7EXAMPLE");
    expect((await run()).stdout).not.toContain("AKIAIOSFODNN7EXAMPLE");
  });

  test("clear asks first, and then forgets everything", async () => {
    await run("add", "one");
    await run("add", "two");
    const { code, stderr } = await run("clear");
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
    expect(await run("clear", "--yes")).toMatchObject({ code: 0, stdout: "Forgot 2 entries.\n" });
    expect((await run()).stdout).toBe("Memory has no entries yet.\n");
  });

  test("says when the settings switch it off, and then takes nothing new", async () => {
    await run("add", "from before");
    settings({ memory: { enabled: false } });
    const listed = await run();
    expect(listed.stdout).toContain("from before");
    expect(listed.stderr).toMatch(/^banyan: Memory is off:/);
    expect(await run("add", "more")).toMatchObject({ code: 2, stdout: "" });
  });
});
