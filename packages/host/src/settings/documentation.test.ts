import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { settingVariables } from "./environment.ts";
import { formatKey } from "./key.ts";
import { nodesAt, type SchemaNode } from "./known-names.ts";
import { projectShape } from "./project-schema.ts";
import { settingShape, settingsSchema } from "./schema.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../docs/configuration.md", import.meta.url)), "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));

test("the published schema is the schema of the settings; `vitest run -u` writes it again", async () => {
  const text = `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../../../docs/settings.schema.json");
});

describe("docs/configuration.md", () => {
  test("lists every setting, in the words of the schema", () => {
    const wanted = documentedSettings()
      .filter(({ description }) => description !== "")
      .map(({ key, description }) => [`\`${key}\``, description]);
    expect(rows.map((row) => row.slice(0, 2))).toEqual(expect.arrayContaining(wanted));
  });

  test("says for each setting whether a project may set it", () => {
    const said = (name: string) => rows.find(([key]) => key === `\`${name}\``)?.[2];
    const names = Object.keys(settingShape) as (keyof typeof settingShape)[];
    for (const name of names) {
      const schema = projectShape[name];
      if (schema === undefined) expect([name, said(name)]).toEqual([name, "no"]);
      else if (schema === settingShape[name]) expect([name, said(name)]).toEqual([name, "yes"]);
      else expect(said(name)).toMatch(/^only /);
    }
  });

  test("lists each variable with its setting", () => {
    for (const { name, path } of settingVariables) {
      const row = rows.find(([variable]) => variable === `\`${name}\``);
      expect(row?.[1]).toMatch(new RegExp(`^\`${RegExp.escape(formatKey(path))}\``));
    }
  });
});

/** The JSON Schema of a settings file, as published in docs/settings.schema.json. */
function settingsJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(settingsSchema, { io: "input" });
  return { $schema, title: "Settings of banyan", description: "~/.config/banyan/settings.json", ...schema };
}

/** A setting in the table of docs/configuration.md. */
interface DocumentedSetting {
  /** `*` means any name. */
  readonly key: string;
  readonly description: string;
}

/** Every setting with its description; objects come before their properties. */
function documentedSettings(): DocumentedSetting[] {
  return settingsBelow("", z.toJSONSchema(settingsSchema, { io: "input" }) as SchemaNode);
}

function settingsBelow(around: string, node: SchemaNode): DocumentedSetting[] {
  return nodesAt(node, []).flatMap(({ properties = {}, additionalProperties }) => [
    ...Object.entries(properties).flatMap(([name, inner]) => {
      const key = around === "" ? name : `${around}.${name}`;
      return [{ key, description: inner.description ?? "" }, ...settingsBelow(key, inner)];
    }),
    ...(typeof additionalProperties === "object" ? settingsBelow(`${around}.*`, additionalProperties) : []),
  ]);
}
