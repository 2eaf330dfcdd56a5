import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changeSetting, changeSettingByText } from "./change.ts";
import { SettingsError } from "./fault.ts";
import { replaceJsonFile } from "./json-file.ts";
import { parseKey } from "./key.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-settings-"));
  file = join(folder, "settings.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("changing a setting", () => {
  test("keeps the rest, also unknown keys, with order and indentation", () => {
    writeFileSync(file, '{\n\t"later": {"x": 1},\n\t"temperature": 1,\n\t"model": "a/b"\n}');
    changeSetting(file, ["temperature"], 0.5);
    changeSetting(file, ["limits", "steps"], 5);
    expect(readFileSync(file, "utf8")).toBe(
      '{\n\t"later": {\n\t\t"x": 1\n\t},\n\t"temperature": 0.5,\n\t"model": "a/b",\n\t"limits": {\n\t\t"steps": 5\n\t}\n}\n',
    );
    changeSetting(file, ["model"], undefined);
    changeSetting(file, ["limits", "steps"], undefined);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ later: { x: 1 }, temperature: 0.5, limits: {} });
  });

  test("makes a file for the user alone", () => {
    changeSetting(join(folder, "new", "settings.json"), ["model"], "a/b");
    expect(statSync(join(folder, "new", "settings.json")).mode & 0o777).toBe(0o600);
  });

  test("names a file that cannot be written, and leaves no file behind", () => {
    mkdirSync(join(file, "in-the-way"), { recursive: true });
    writeFileSync(join(folder, "plain"), "");
    for (const place of [file, join(folder, "plain", "settings.json")]) {
      const change = () => replaceJsonFile(place, {});
      expect(change).toThrow(SettingsError);
      expect(change).toThrow(`${place}: it cannot be written (`);
    }
    expect(readdirSync(folder).sort()).toEqual(["plain", "settings.json"]);
  });

  test("corrects a wrong value", () => {
    writeFileSync(file, '{"temperature":"hot","modle":1}');
    changeSetting(file, ["temperature"], 1);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ temperature: 1, modle: 1 });
  });

  test.each([
    ['{"temperature":1}', ["temperature"], 3, ": temperature: found 3; expected a number from 0 to 2."],
    ["{}", ["modle"], "x", ": 'modle' is not known; expected 'model' or 'models'."],
    ["{}", ["limits", "stps"], 1, ": limits: 'stps' is not known; expected 'steps'."],
    ["{}", ["toString"], 1, ": 'toString' is not known"],
    ['{\n"permissions":{"deny":[1]}}', ["permissions", "allow"], [], ":2:24: permissions.deny[0]: found 1; expected a"],
    ["{ broken", ["model"], "a/b", ":1:3: the JSON is not valid"],
    ["[]", ["model"], "a/b", ": found no object; expected an object with settings."],
  ])("%s refuses %j = %j and stays as it is", (before, path, value, message) => {
    writeFileSync(file, before);
    expect(() => changeSetting(file, path, value)).toThrow(SettingsError);
    expect(() => changeSetting(file, path, value)).toThrow(`${file}${message}`);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("S5: refuses in a project a setting that projects cannot have", () => {
    expect(() => changeSetting(file, ["approval"], "all", "project")).toThrow('expected "ask"');
    expect(() => changeSetting(file, ["theme"], "dark", "project")).toThrow("'theme' is not known");
    expect(existsSync(file)).toBe(false);
    changeSetting(file, ["approval"], "ask", "project");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ approval: "ask" });
  });
});

describe("a value in the user's notation", () => {
  test.each<[string, string, unknown]>([
    ["model", "a/b", { model: "a/b" }],
    ["model", "5", { model: "5" }],
    ["temperature", "0.5", { temperature: 0.5 }],
    ["memory.enabled", "false", { memory: { enabled: false } }],
    ["instructions", '["a.md"]', { instructions: ["a.md"] }],
    ["permissions.deny", '["shell(rm *)"]', { permissions: { deny: ["shell(rm *)"] } }],
    ['models["a/b.c"].contextSize', "100", { models: { "a/b.c": { contextSize: 100 } } }],
    ["mcpServers.docs.url", "https://x.example/mcp", { mcpServers: { docs: { url: "https://x.example/mcp" } } }],
  ])("%s %s", (key, text, expected) => {
    changeSettingByText(file, parseKey(key) ?? [], text);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(expected);
  });

  test.each([
    ["temperature", "hot", 'temperature: found "hot"; expected a number from 0 to 2.'],
    ["temperature", "7", "temperature: found 7; expected a number from 0 to 2."],
    ["limits", '{"steps":0}', "limits.steps: found 0; expected a whole number above 0."],
  ])("%s %s is refused", (key, text, message) => {
    expect(() => changeSettingByText(file, parseKey(key) ?? [], text)).toThrow(message);
    expect(existsSync(file)).toBe(false);
  });
});
