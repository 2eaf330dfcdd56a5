import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge, permission, rules, tool } from "./call.fixture.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-paths-")));
const workspace = join(folder, "work");
const alias = join(folder, "alias");
const outside = join(folder, "outside");

beforeAll(() => {
  for (const path of [workspace, outside, join(workspace, "src"), join(workspace, "secret"), join(workspace, "bare")])
    mkdirSync(path);
  writeFileSync(join(workspace, "bare", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(workspace, "secret", "key"), "");
  symlinkSync(workspace, alias);
  symlinkSync(outside, join(workspace, "out"));
  symlinkSync("../secret", join(workspace, "src", "inner"));
  symlinkSync("secret/key", join(workspace, "innocent"));
  symlinkSync("loop", join(workspace, "loop"));
  symlinkSync(join(outside, "missing"), join(workspace, "dangling"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function decide(
  path: string,
  texts: Parameters<typeof rules>[0],
  name = "write",
  root = workspace,
): Promise<string> {
  return (
    await judge(permission({ workspace: root, rules: rules(texts), home: outside }), tool(name), {
      path,
      file_path: path,
    })
  ).decision;
}

test.each([
  ["write(src/**)", "src/a.ts"],
  ["write(src/**)", "src/deep/.hidden"],
  ["write(src/**)", "./src/a.ts"],
  ["write(src/**)", "lib/../src/a.ts"],
  ["write(./src/**)", "src/a.ts"],
  ["write(src/**)", join(workspace, "src/a.ts")],
  [`write(${workspace}/src/**)`, "src/a.ts"],
  ["write(*.ts)", "a.ts"],
  ["write(**/*.ts)", "src/deep/a.ts"],
  ["write(**)", "a"],
  ["write(src/{a,b}.ts)", "src/b.ts"],
  ["write(src/a+b(1).ts)", "src/a+b(1).ts"],
  [`write(${outside}/**)`, join(outside, "a")],
  [`write(${outside}/**)`, "../outside/a"],
  ["write(../outside/**)", "../outside/a"],
  ["write(~/**)", join(outside, "a")],
  [`write(${outside}/**)`, "out/a", "deny only"],
])("B63: the rule %s fits %s", async (rule, path, only?: string) => {
  expect(await decide(path, { deny: [rule] })).toBe("deny");
  expect(await decide(path, { allow: [rule] })).toBe(only ? "ask" : "allow");
});

test.each([
  ["write(src/**)", "lib/a.ts"],
  ["write(src/**)", "Src/a.ts"],
  ["write(src/**)", "src/../lib/a.ts"],
  ["write(src/**)", "srcs/a.ts"],
  ["write(*.ts)", "src/a.ts"],
  ["edit_mode(src/**)", "src/a.ts"],
  [`write(${outside}/**)`, "a"],
])("B63: the rule %s does not fit %s", async (rule, path) => {
  expect(await decide(path, { deny: [rule], allow: ["write"] })).toBe("allow");
  expect(await decide(path, { allow: [rule] })).toBe("ask");
});

test("S21: a deny rule on reading forbids writing the file, which shows its content, and allows no writing", async () => {
  expect(await decide("src/a.ts", { deny: ["read(src/**)"], allow: ["write"] })).toBe("deny");
  expect(await decide("src/a.ts", { ask: ["read(src/**)"], allow: ["write"] })).toBe("ask");
  expect(await decide("src/a.ts", { allow: ["read(src/**)"] })).toBe("ask");
});

test("S8: a relative rule allows nothing outside the workspace", async () => {
  for (const path of ["../outside/a", join(outside, "a"), "out/a", "dangling", "/etc/passwd"]) {
    expect(await decide(path, { allow: ["write(**)", "write(../work/**)"] })).toBe("ask");
  }
});

test("S8: a deny rule matches the target of a link, and the link's own name", async () => {
  for (const path of ["secret/key", "innocent", "src/inner/key", "src/inner/new", "src/../secret/x"]) {
    expect(await decide(path, { deny: ["write(secret/**)"], allow: ["write"] })).toBe("deny");
  }
  expect(await decide("innocent", { deny: ["write(innocent)"], allow: ["write"] })).toBe("deny");
});

test("S8: an allow rule must match both the link and its target", async () => {
  expect(await decide("innocent", { allow: ["write(innocent)"] })).toBe("ask");
  expect(await decide("innocent", { allow: ["write(secret/**)"] })).toBe("ask");
  expect(await decide("innocent", { allow: ["write({innocent,secret/key})"] })).toBe("allow");
});

test("S8: `..` after a link continues from the target", async () => {
  // The system resolves this to folder/work next to outside; as plain text it would be work/work.
  expect(await decide("out/../work/secret/key", { deny: ["write(secret/**)"], allow: ["write"] })).toBe("deny");
  expect(await decide("out/../x", { allow: ["write(**)"] })).toBe("ask");
});

test("S8: reading through a link that leads outside asks, as does a link that never ends", async () => {
  const reading = permission({ workspace });
  const read = tool("read", "none");
  expect((await judge(reading, read, { path: "innocent" })).decision).toBe("allow");
  for (const path of ["out/a", "dangling", "loop", "loop/a"])
    expect((await judge(reading, read, { path })).decision).toBe("ask");
});

test("S8: a workspace opened through a link is the same workspace", async () => {
  for (const path of ["src/a", join(workspace, "src/a"), join(alias, "src/a")]) {
    expect(await decide(path, { allow: ["write(src/**)"] }, "write", alias)).toBe("allow");
    expect(await decide(path, { allow: [`write(${alias}/src/**)`] }, "write", alias)).toBe("allow");
    expect(await decide(path, { deny: [`write(${workspace}/src/**)`] }, "write", alias)).toBe("deny");
  }
});

test("S8: a line break in a name dodges no rule", async () => {
  expect(await decide("src/a\nb", { deny: ["write(src/**)"], allow: ["write"] })).toBe("deny");
});

test("S8: an impossible path is not inside", async () => {
  expect((await judge(permission({ workspace }), tool("read", "none"), { path: "a\0b" })).decision).toBe("ask");
});

test("B63: a rule for the workspace itself fits a tool that starts there", async () => {
  expect(await decide(".", { deny: ["list(**)"] }, "list")).toBe("deny");
  expect(
    (await judge(permission({ workspace, rules: rules({ deny: ["list(.)"] }) }), tool("list", "none"), {})).decision,
  ).toBe("deny");
});

test.each([
  [".git/hooks/pre-commit", "ask"],
  ["src/.vscode/tasks.json", "ask"],
  [".VSCode/tasks.json", "ask"],
  [".mcp.json", "ask"],
  [".envrc", "ask"],
  ["src/.banyan/settings.json", "ask"],
  ["src/a.ts", "allow"],
  ["package.json", "allow"],
  [".github/workflows/test.yml", "allow"],
  [".gitignore", "allow"],
  ["src/HEAD", "ask"],
  ["head", "ask"],
  ["bare/config", "ask"],
  ["bare/hooks/post-checkout", "ask"],
  ["bare/OBJECTS/info/alternates", "ask"],
  ["bare/modules/a/config", "ask"],
  ["bare/description", "allow"],
  ["src/config", "allow"],
  ["src/hooks/use-state.ts", "allow"],
])("S19: mode edits on %s, which a program may obey by itself: %s", async (path, expected) => {
  for (const name of ["write", "edit", "edit_mode"])
    expect(
      (await judge(permission({ workspace, mode: "edits" }), tool(name), { path, file_path: path })).decision,
    ).toBe(expected);
});

test('S19, S24: a rule for a folder excludes files that programs obey, and "always" names the exact file', async () => {
  for (const name of ["write", "edit", "edit_mode"])
    for (const path of ["src/.vscode/tasks.json", "src/HEAD", "bare/config"]) {
      const [folder] = path.split("/");
      for (const rule of [`${name}(${folder}/**)`, `${name}(**)`, `${name}(*/*)`])
        expect(await decide(path, { allow: [rule] }, name)).toBe("ask");
      for (const rule of [name, `${name}(${path})`]) expect(await decide(path, { allow: [rule] }, name)).toBe("allow");
      const permit = await judge(permission({ workspace }), tool(name), { path, file_path: path });
      expect(permit).toEqual({ decision: "ask", pattern: `${name}(${path})` });
    }
  expect(await decide(".vscode/tasks.json", { allow: ["write(.vscode/**)"] })).toBe("allow");
});

test("F81: a deny or ask rule applies to each name that resembles its own, and an allow rule to its own alone", async () => {
  const alike = [
    ["it's secret.env", "it\u2019s\u00a0secret.env"],
    ["caf\u00e9/a.txt", "cafe\u0301/a.txt"],
  ] as const;
  for (const [plain, other] of alike) {
    for (const [rule, path] of [
      [plain, other],
      [other, plain],
    ] as const) {
      expect(await decide(path, { deny: [`write(${rule})`], allow: ["write"] })).toBe("deny");
      expect(await decide(path, { ask: [`write(${rule})`], allow: ["write"] })).toBe("ask");
      expect(await decide(path, { allow: [`write(${rule})`] })).toBe("ask");
    }
  }
});
