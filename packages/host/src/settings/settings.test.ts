import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changeSettings, readSettings, SettingsError } from "./settings.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-settings-"));
  file = join(folder, "settings.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("without a file there are no settings", () => {
  expect(readSettings(file)).toEqual({});
});

test("a settings file gives its settings", () => {
  const settings = {
    model: "a/b",
    temperature: 0,
    maxTokens: 1,
    aliases: { quick: "anthropic/claude-haiku-4-5:low" },
    models: { "mine/qwen-3.5": { price: { input: 0, output: 1.5, cached: 0 }, contextSize: 32_768 } },
    approval: "edits",
    permissions: { allow: ["shell(npm test*)"] },
  };
  writeFileSync(file, JSON.stringify(settings));
  expect(readSettings(file)).toEqual(settings);
});

describe("a broken settings file is named with the place and what is expected", () => {
  test.each([
    ['{ "model": "a", }', 'line 1, column 17: the JSON breaks at "}"'],
    ["[]", "found []; expected an object with settings"],
    ['{ "modle": "a" }', "'modle' is not known; expected 'model'"],
    ['{ "max_tokens": 5 }', "'max_tokens' is not known; expected 'maxTokens'"],
    [
      '{ "zzz": 5 }',
      "'zzz' is not known; expected one of model, temperature, maxTokens, aliases, models, permissions, approval",
    ],
    ['{ "model": "" }', 'model: found ""; expected the name of a model'],
    ['{ "temperature": 2.5 }', "temperature: found 2.5; expected a number from 0 to 2"],
    ['{ "temperature": "hot" }', 'temperature: found "hot"; expected a number from 0 to 2'],
    ['{ "maxTokens": 0 }', "maxTokens: found 0; expected a whole number above 0"],
    ['{ "maxTokens": 1.5 }', "maxTokens: found 1.5; expected a whole number above 0"],
    ['{ "aliases": { "a/b": "c/d" } }', "aliases: found the name 'a/b'; expected a short name without a slash"],
    ['{ "aliases": { "quick": 1 } }', "aliases.quick: found 1; expected the model that it stands for"],
    ['{ "models": { "gpt": {} } }', "models: found the name 'gpt'; expected the name of a model as provider/model"],
    ['{ "models": { "a/b-5.4": { "prize": {} } } }', "models.a/b-5.4: 'prize' is not known; expected 'price'"],
    [
      '{ "models": { "a/b": { "contextSize": 0 } } }',
      "models.a/b.contextSize: found 0; expected a whole number of tok",
    ],
    [
      '{ "models": { "a/b": { "price": { "input": -1, "output": 1 } } } }',
      "models.a/b.price.input: found -1; expected US",
    ],
    [
      '{ "models": { "a/b": { "price": { "input": 1 } } } }',
      "models.a/b.price.output: found nothing; expected US dollars",
    ],
    [
      '{ "models": { "a/b": { "price": { "input": 1, "output": 1, "cachedd": 1 } } } }',
      "models.a/b.price: 'cachedd' is not known; expected 'cached'",
    ],
    ['{ "approval": "never" }', 'approval: found "never"; expected "ask", "edits" or "all"'],
    ['{ "permissions": { "denny": [] } }', "permissions: 'denny' is not known; expected 'deny'"],
    ['{ "permissions": { "ask": ["shell("] } }', 'permissions.ask[0]: found "shell("; expected a rule'],
  ])("%j: %s", (text, message) => {
    writeFileSync(file, text);
    expect(() => readSettings(file)).toThrow(SettingsError);
    expect(() => readSettings(file)).toThrow(`${file}: `);
    expect(() => readSettings(file)).toThrow(message);
  });
});

describe("changing settings", () => {
  test("changes what is named, keeps the rest, and removes what is undefined", () => {
    writeFileSync(file, '{"permissions":{"deny":["fetch"]},"model":"a/b","temperature":1}');
    expect(changeSettings(file, { model: "c/d", temperature: undefined, maxTokens: 5 })).toEqual({
      permissions: { deny: ["fetch"] },
      model: "c/d",
      maxTokens: 5,
    });
    expect(readSettings(file)).toEqual({ permissions: { deny: ["fetch"] }, model: "c/d", maxTokens: 5 });
  });

  test("makes a file for the user alone", () => {
    changeSettings(join(folder, "new", "settings.json"), { model: "a/b" });
    expect(statSync(join(folder, "new", "settings.json")).mode & 0o777).toBe(0o600);
  });

  test("refuses a change that is not valid, and a file that is broken, and leaves both as they are", () => {
    writeFileSync(file, '{"temperature":1}');
    expect(() => changeSettings(file, { temperature: 3 })).toThrow(
      "temperature: found 3; expected a number from 0 to 2",
    );
    expect(readFileSync(file, "utf8")).toBe('{"temperature":1}');
    writeFileSync(file, '{"other":1}');
    expect(() => changeSettings(file, { temperature: 1 })).toThrow("'other' is not known");
    expect(readFileSync(file, "utf8")).toBe('{"other":1}');
  });
});
