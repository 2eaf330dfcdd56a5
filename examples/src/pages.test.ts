import { existsSync, readdirSync, readFileSync } from "node:fs";
import type {
  ChatError,
  DirectiveError,
  LimitError,
  ModelErrorCode,
  SessionErrorCode,
  StoreErrorCode,
} from "@banyan/core";
import * as core from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import { ModelChoiceError, type ModelChoiceErrorCode } from "@banyan/models";
import { describe, expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Returns the code in the first cells of a page's tables. */
function rowsOf(page: string): string[] {
  return [...page.matchAll(/^\| (`[^|]*?) \|/gm)].flatMap(([, cell = ""]) => codesIn(cell));
}

function codesIn(markdown: string): string[] {
  return [...markdown.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

test("docs/events.md has a row for every item of a feed, and for no other", () => {
  const files = ["event", "feed-item", "message"].map((name) => read(`packages/core/src/conversation/${name}.ts`));
  const declared = files.join("").matchAll(/"([a-z]+(?:\.[a-z-]+)+)"/g);
  const types = new Set([...declared].map(([, type]) => type));
  // Another table, of what clients show, is compared with what they do.
  const [page = ""] = read("docs/events.md").split("## What each client shows");
  const rows = rowsOf(page).filter((row) => /^[a-z]+(\.[a-z-]+)+$/.test(row));
  expect(types.size).toBeGreaterThan(20);
  expect(rows.toSorted()).toEqual([...types].toSorted());
});

test("docs/drivers.md has every part that a driver can push", () => {
  const parts: Record<ModelPart["type"], true> = {
    text: true,
    reasoning: true,
    "part-end": true,
    call: true,
    "call-input": true,
    "call-end": true,
    source: true,
    provider: true,
    note: true,
    finish: true,
  };
  expect(rowsOf(read("docs/drivers.md"))).toEqual(expect.arrayContaining(Object.keys(parts)));
});

test("docs/limits-and-errors.md has every public error", () => {
  const classes = [...Object.values<unknown>(core), ModelChoiceError].filter(
    (value): value is typeof Error => typeof value === "function" && value.prototype instanceof Error,
  );
  const [, errors = ""] = read("docs/limits-and-errors.md").split("\n## Errors\n");
  expect(classes.length).toBeGreaterThan(8);
  expect(codesIn(errors)).toEqual(expect.arrayContaining(classes.map(({ name }) => name)));
});

test("docs/limits-and-errors.md has every code of an error", () => {
  type Code =
    | ChatError["code"]
    | DirectiveError["code"]
    | LimitError["code"]
    | ModelErrorCode
    | ModelChoiceErrorCode
    | SessionErrorCode
    | StoreErrorCode;
  const codes: Record<Code, true> = {
    authentication: true,
    "broken-stream": true,
    broken: true,
    busy: true,
    closed: true,
    "context-overflow": true,
    damaged: true,
    empty: true,
    filtered: true,
    full: true,
    "invalid-limit": true,
    "invalid-option": true,
    "invalid-request": true,
    malformed: true,
    iterated: true,
    locked: true,
    "malformed-address": true,
    "malformed-name": true,
    "missing-address": true,
    "missing-key": true,
    "missing-package": true,
    "no-id": true,
    "no-call": true,
    "no-process": true,
    "no-chat": true,
    "no-embeddings": true,
    "no-log": true,
    behind: true,
    "no-run": true,
    "no-input": true,
    "no-message": true,
    "no-question": true,
    "no-session": true,
    "not-found": true,
    "nothing-to-resume": true,
    "nothing-to-retry": true,
    "other-session": true,
    overloaded: true,
    provider: true,
    quota: true,
    refused: true,
    "rate-limit": true,
    stale: true,
    stalled: true,
    "unknown-message": true,
    "unusable-file": true,
    "unknown-model": true,
    "unknown-price": true,
    "unknown-provider": true,
    unknown: true,
    unreachable: true,
    unusable: true,
    "used-id": true,
  };
  const [, errors = ""] = read("docs/limits-and-errors.md").split("\n## Errors\n");
  expect(codesIn(errors)).toEqual(expect.arrayContaining(Object.keys(codes)));
});

const pages = ["README.md", ...readdirSync(new URL("docs/", root)).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

test.each(pages)("the links in %s lead somewhere", (page) => {
  const headings = (path: URL) =>
    [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    );
  for (const [, link = ""] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const target = new URL(link, new URL(page, root));
    const anchor = target.hash.slice(1);
    target.hash = "";
    expect(existsSync(target), `${link} is not there`).toBe(true);
    if (anchor !== "") expect(headings(target), `${link} has no such heading`).toContain(anchor);
  }
});

describe("docs/coming-from.md", () => {
  const linesOf = (path: string) => read(path).trimEnd().split("\n").length;
  const rows = [
    ...read("docs/coming-from.md").matchAll(/\((\S+compared\S+)\) \| (\d+) \| \[.*?\]\((\S+ports\S+)\) \| (\d+) \|/g),
  ].map(([, ours = "", lines, theirs = "", theirLines]) => ({
    ours: ours.slice("../".length),
    theirs: theirs.slice("../".length),
    lines: [Number(lines), Number(theirLines)] as const,
  }));

  test("L12: compares all programs of examples/src/compared, and counts their lines", () => {
    const programs = readdirSync(new URL("examples/src/compared/", root)).filter(
      (name) => !/fixture|compared|^ports/.test(name),
    );
    expect(rows.map(({ ours }) => ours.split("/").at(-1)).toSorted()).toEqual(programs.toSorted());
    expect(rows).toHaveLength(8);
    for (const { ours, theirs, lines } of rows) expect([linesOf(ours), linesOf(theirs)], ours).toEqual(lines);
  });

  test.each(rows)("L12: $ours has no more lines than $theirs", ({ ours, theirs }) => {
    expect(linesOf(ours)).toBeLessThanOrEqual(linesOf(theirs));
  });
});
