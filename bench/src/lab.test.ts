import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { inOwnProcess } from "./child.ts";
import type { Lab } from "./measure.ts";
import { inFormat } from "./measures/in-format.ts";
import { measures } from "./measures/index.ts";
import { paced } from "./measures/paced.ts";
import { AGENTS, COMMANDS, isPeer } from "./peers.ts";
import { peerOf } from "./places.ts";

const here = (pattern: string) => globSync(pattern, { cwd: import.meta.dirname });

test.each(measures)("the measure $name has a file of that name, which exports it alone", async (measure) => {
  expect(Object.values(await import(`./measures/${measure.name}.ts`))).toEqual([measure]);
});

test("what a subject is compared with is among the subjects", () => {
  for (const { subjects, bounds, rivals = [] } of measures) {
    expect(subjects).toEqual(expect.arrayContaining([...bounds, ...rivals]));
  }
});

test("every peer is pinned to one version, and every library among them has a client", () => {
  const pinned: Record<string, Record<string, string>> = JSON.parse(
    readFileSync(`${import.meta.dirname}/../peers.json`, "utf8"),
  );
  for (const versions of Object.values(pinned)) {
    for (const version of Object.values(versions)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
  expect([...AGENTS, ...COMMANDS].filter((name) => !isPeer(name))).toEqual([]);
  const libraries = Object.keys(pinned).filter((name) => !COMMANDS.includes(name));
  expect(here("peers/*.js")).toEqual(expect.arrayContaining(libraries.map((name) => `peers/${name}.js`)));
});

test("the provider packages are measured by themselves at the versions that our engine is measured over", () => {
  const { "provider-package": packages } = JSON.parse(readFileSync(`${import.meta.dirname}/../peers.json`, "utf8"));
  const ours = Object.keys(packages).map((name) => {
    const manifest = readFileSync(`${import.meta.dirname}/../../node_modules/${name}/package.json`, "utf8");
    return [name, JSON.parse(manifest).version];
  });
  expect(packages).toEqual(Object.fromEntries(ours));
});

test("a measure in another format has the subjects that speak it, and the targets of these", async () => {
  const measure = { ...paced, run: async (_: string, { format }: Lab) => ({ [format ?? "none"]: 1 }) };
  const { name, subjects, rivals, targets, run } = inFormat("anthropic", measure);
  expect(await run("engine", { provider: "http://127.0.0.1:9", turns: 1, places: {} })).toEqual({ anthropic: 1 });
  expect({ name, rivals }).toEqual({ name: "paced-anthropic", rivals: ["ai", "pi-agent-core"] });
  const others = AGENTS.filter((agent) => !rivals?.includes(agent));
  const leftOut = paced.subjects.filter((subject) => !subjects.includes(subject));
  expect(leftOut).toEqual(["undici", "fetch", "engine, SQLite", ...others]);
  expect(targets).toEqual(paced.targets?.filter(({ subject }) => subject !== "engine, SQLite"));
});

test("a subject may need a peer without being one", () => {
  expect(peerOf("engine, provider-package")).toBe("provider-package");
  expect(peerOf("engine, SQLite")).toBeUndefined();
});

test("a subject that fails says why, and is no end of the run", async () => {
  const lab = { provider: "http://127.0.0.1:9", turns: 1, places: {} };
  expect(await inOwnProcess({ measure: "construct", subject: "hand-written", lab })).toEqual({
    problem: "Error: hand-written has no agents.",
  });
});
