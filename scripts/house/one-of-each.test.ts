import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

// This test is above all packages, so it imports none of them statically.
const inside = (file: string) => import(new URL(`../../packages/${file}`, import.meta.url).href);
const {
  knownItem,
  commands,
}: {
  knownItem: { options: { options: { shape: { type: { value: string } } }[] }[] };
  commands: Readonly<Record<string, unknown>>;
} = await inside("protocol/src/index.ts");

const root = fileURLToPath(new URL("../..", import.meta.url));

function sources(below: string): ReadonlyMap<string, string> {
  const files = globSync(`packages/${below}/**/*.{ts,tsx}`, { cwd: root }).filter(
    (path) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path),
  );
  return new Map(files.map((path) => [path.replaceAll("\\", "/"), withoutComments(readFileSync(root + path, "utf8"))]));
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

function filesWith(all: ReadonlyMap<string, string>, pattern: RegExp): string[] {
  return [...all].flatMap(([path, code]) => (pattern.test(code) ? path : [])).toSorted();
}

const product = sources("*/src");

const everything = new Map(
  globSync("{packages/*/src,scripts,examples/src,bench/src}/**/*.{ts,tsx}", { cwd: root }).map((path) => [
    path.replaceAll("\\", "/"),
    withoutComments(readFileSync(root + path, "utf8")),
  ]),
);

describe("what a person can do to a conversation", () => {
  test("H1: each command of the protocol is carried out in one place: at the desk", () => {
    const handlers = [...sources("desk/src/commands").values()].join("\n");
    const ofConnections = product.get("packages/desk/src/seat.ts") ?? "";
    const carriedOut = [
      ...handlers.matchAll(/^ {2}(?:async )?"([a-z]+\.[a-z]+)"(?=\(|: )/gm),
      ...ofConnections.matchAll(/case "([a-z]+\.[a-z]+)":/g),
    ];
    expect(carriedOut.map(([, name]) => name).toSorted()).toEqual(Object.keys(commands).toSorted());
  });

  test("H1: nothing around the desk takes turns or writes to a session: doors and clients ask the desk", () => {
    const around = new Map(
      ["acp", "cli", "restate", "server", "telemetry", "web"].flatMap((name) => [...sources(`${name}/src`)]),
    );
    const turns = filesWith(around, /\b\w*[aA]gent\)?\.(chat|send|compact)\(/);
    const writes = filesWith(around, /\bsession\.((say|editInput|withdrawInput)\(|notes\b)/);
    expect([...turns, ...writes]).toEqual([]);
  });

  test("H2: attaching to a server differs from a conversation here by its link alone: at most 300 lines", () => {
    const lines = [...sources("cli/src/attach").keys()].map((path) => readFileSync(root + path, "utf8").split("\n"));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.flat().length).toBeLessThanOrEqual(300);
  });
});

describe("the client of the protocol", () => {
  test("H3: one class makes state of the frames that come; a node that moves a conversation hands them on", () => {
    expect(filesWith(product, /case "snapshot":/)).toEqual([
      "packages/client/src/link/client.ts",
      "packages/server/src/cluster/moving-conversation.ts",
    ]);
  });

  test("H3: it has three links: a socket of the browser, one of Node, and one within the process", () => {
    expect(filesWith(product, /class \w+ implements Link\b/)).toEqual([
      "packages/client/src/link/node-link.ts",
      "packages/desk/src/in-process-link.ts",
      "packages/web/src/parts/connection/browser-link.ts",
    ]);
  });
});

describe("the shapes of events, deltas and notices", () => {
  const types = knownItem.options.flatMap(({ options }) => options.map(({ shape }) => shape.type.value));

  test("H4: they stand once, in the protocol: no other schema names a type of them", () => {
    const schema = new RegExp(`\\b(literal|event)\\(\\s*"(${types.join("|").replaceAll(".", "\\.")})"`);
    expect(filesWith(product, schema)).toEqual([
      "packages/protocol/src/shapes/event.ts",
      "packages/protocol/src/shapes/feed-item.ts",
    ]);
  });

  // Each client reads this from the state and does not draw it separately.
  test.each(["message.starred", "message.labelled", "message.restored", "memory.dismissed"])(
    "H5: %s stands in at most five files, and in one that writes it",
    (type) => expect(filesWith(product, new RegExp(`"${type}"`)).length).toBeLessThanOrEqual(6),
  );
});

describe("patterns that have one form", () => {
  test("H22: the words of an error come from errorMessage", () => {
    expect(filesWith(product, /\b(\w+) instanceof Error \? \1\.message : String\(\1\)/)).toEqual([]);
  });

  test("H22: an object that is written in place is not spread: its fields are written out", () => {
    expect(filesWith(everything, /\.\.\.\{/)).toEqual([]);
  });
});
