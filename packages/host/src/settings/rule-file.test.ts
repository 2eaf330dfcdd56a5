import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rules } from "../permissions/call.fixture.ts";
import { RuleError } from "../permissions/rule.ts";
import { SettingsError } from "./fault.ts";
import { readRuleFile, rememberRule } from "./rule-file.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-rules-"));
  file = join(folder, "rules.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("B63: a rule file gives its rules", () => {
  writeFileSync(
    file,
    '{ "permissions": { "deny": ["shell(rm *)"], "ask": ["fetch"], "allow": ["edit(src/**)", "*"] } }',
  );
  expect(readRuleFile(file)).toEqual(rules({ deny: ["shell(rm *)"], ask: ["fetch"], allow: ["edit(src/**)", "*"] }));
});

test("B63: a settings file serves as a rule file, and lists may be absent", () => {
  writeFileSync(file, '\uFEFF{ "model": "a/b", "permissions": { "allow": [] } }');
  expect(readRuleFile(file)).toEqual(rules({}));
  writeFileSync(file, "{}");
  expect(readRuleFile(file)).toEqual(rules({}));
});

test("B63: a rule file ignores the other keys of a settings file", () => {
  writeFileSync(file, '{ "modle": 1, "approval": "never", "permissions": { "deny": ["fetch"] } }');
  expect(readRuleFile(file)).toEqual(rules({ deny: ["fetch"] }));
});

describe("the error for a broken rule file names the place and the expected value", () => {
  test.each([
    [
      '{ "permissions": { "allow": ["shell" } }',
      ':1:38: the JSON is not valid at "}"; expected JSON without comments or trailing commas.',
    ],
    ['{\n  "permissions": {},\n}', ':3:1: the JSON is not valid at "}"'],
    ["{\n  // mine\n}", ':2:3: the JSON is not valid at "/"'],
    ['{ "permissions": tru3 }', ':1:21: the JSON is not valid at "3"'],
    ['{ "permissions": {', ":1:19: the JSON ends too early"],
    ["", ":1:1: the JSON ends too early"],
    ["[]", ": found []; expected an object with settings"],
    ['{ "permissions": [] }', ":1:18: permissions: found []; expected an object with the lists deny, ask and allow"],
    ['{ "permissions": { "allow": "shell" } }', ':1:29: permissions.allow: found "shell"; expected a list of rules'],
    ['{ "permissions": { "allow": ["edit", 3] } }', ":1:38: permissions.allow[1]: found 3; expected a rule"],
    [
      '{ "permissions": { "deny": ["edit", "shell(x"] } }',
      ":1:37: permissions.deny[1]: found \"shell(x\"; expected a rule: TOOL, TOOL(PATTERN) or *. The rule 'shell(x' does not end with ')'",
    ],
    ['{ "permissions": { "alow": [] } }', ":1:20: permissions: 'alow' is not known; expected 'allow'"],
    ['{ "permissions": {},\n"permissions": {} }', ":2:1: 'permissions' is there twice; merge both into one"],
  ])("%j: %s", (text, message) => {
    writeFileSync(file, text);
    expect(() => readRuleFile(file)).toThrow(SettingsError);
    expect(() => readRuleFile(file)).toThrow(`${file}${message}`);
  });

  test("a missing rule file, or a folder, is an error", () => {
    expect(() => readRuleFile(file)).toThrow(`${file}: there is no such file; expected a rule file.`);
    expect(() => readRuleFile(folder)).toThrow(`${folder}: it is not a file; expected a file that can be read.`);
  });
});

describe("B23: remembering a rule for good", () => {
  test("makes a file for the user alone, in folders for the user alone", () => {
    const deep = join(folder, "new", "deep", "settings.json");
    rememberRule(deep, "shell(npm test *)");
    expect(readRuleFile(deep)).toEqual(rules({ allow: ["shell(npm test *)"] }));
    expect(statSync(deep).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "new")).mode & 0o777).toBe(0o700);
  });

  test("keeps its content, and adds at the end once", () => {
    writeFileSync(file, '{"model":"a/b","later":{"x":1},"permissions":{"deny":["fetch"],"allow":["read"]}}');
    rememberRule(file, { tool: "edit", pattern: "src/**" });
    rememberRule(file, "edit(src/**)");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      model: "a/b",
      later: { x: 1 },
      permissions: { deny: ["fetch"], allow: ["read", "edit(src/**)"] },
    });
  });

  test("replaces the whole file, and leaves no other file", () => {
    writeFileSync(file, "{}");
    const before = statSync(file).ino;
    rememberRule(file, "shell");
    expect(statSync(file).ino).not.toBe(before);
    expect(readdirSync(folder)).toEqual(["rules.json"]);
  });

  test("writes through a link, so that a linked settings file stays linked", () => {
    const real = join(folder, "real.json");
    writeFileSync(real, "{}");
    symlinkSync(real, file);
    rememberRule(file, "shell");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readRuleFile(real)).toEqual(rules({ allow: ["shell"] }));
  });

  test("refuses a malformed rule and a broken file, and changes nothing", () => {
    expect(() => rememberRule(file, "shell(")).toThrow(RuleError);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, "{ broken");
    expect(() => rememberRule(file, "shell")).toThrow(SettingsError);
    expect(readFileSync(file, "utf8")).toBe("{ broken");
  });

  test.skipIf(process.getuid?.() === 0)("leaves nothing behind where it may not write", () => {
    writeFileSync(file, "{}");
    chmodSync(folder, 0o500);
    expect(() => rememberRule(file, "shell")).toThrow("EACCES");
    chmodSync(folder, 0o700);
    expect(readdirSync(folder)).toEqual(["rules.json"]);
  });
});
