import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const session = readFileSync(`${root}packages/core/src/session/session.ts`, "utf8");

const own = [...session.matchAll(/@internal\s+\*\/\s+(?:async |readonly )?(\w+)(?:\(|: | = )/g)].map(
  ([, name]) => name ?? "",
);

function reachedIn(source: string): string[] {
  return [...source.matchAll(new RegExp(`\\b\\w*[sS]ession\\??\\.(${own.join("|")})\\b`, "g"))].map(([call]) => call);
}

test("H10: no package around core reaches for a method of the session that is not public, so that anybody can write a host", () => {
  expect(own).toEqual(expect.arrayContaining(["commit", "runs", "spending", "ask"]));
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) => !path.startsWith("packages/core/") && !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path),
  );
  expect(files.length).toBeGreaterThan(300);
  const reaching = files.filter((path) => reachedIn(readFileSync(root + path, "utf8")).length > 0);
  expect(reaching).toEqual([]);
});

test("H10: a call of such a method is told from others", () => {
  expect(
    reachedIn("await live.session.commit([event]); session.say(x); this.runs; hostSession?.runs.begin(leaf)"),
  ).toEqual(["session.commit", "hostSession?.runs"]);
});
