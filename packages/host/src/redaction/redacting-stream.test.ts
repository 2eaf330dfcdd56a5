import { randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import { redactor } from "./redactor.ts";
import { privateKey, random, secrets } from "./secrets.fixture.ts";

const env = { MY_PASSWORD: "correct horse 7 staple", MY_KEY: "zw8/qr+9=Lm4x" };
const redact = redactor({ env });

function inPieces(text: string, pieces: Iterable<string>, by = redact): string {
  const stream = by.stream();
  let given = "";
  for (const piece of pieces) given += stream.push(piece);
  expect([...pieces].join("")).toBe(text);
  return given + stream.end();
}

function* cut(text: string, longest: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + randomInt(1, longest + 1);
    yield text.slice(at, end);
    at = end;
  }
}

/** A log with secrets in random order; with `feint`, also with a false beginning of a private key. */
function log(feint: boolean): string {
  const all = [...Object.values(secrets()).flat(), ...Object.values(env)];
  const lines = all.flatMap((secret) => [
    `step ${random(3)}: ${secret}`,
    `password = "${random(12)}1a2B"  # ${random(8)}`,
    `Authorization: Bearer ${random(20)}1a2B3c`,
    `fetching https://me:${random(10)}9@example.com/x`,
    ...(feint ? ["-----BEGIN PRIVATE KEY----- is how it begins"] : []),
    random(randomInt(1, 80), "abc \t\n-=:"),
  ]);
  return lines.sort(() => randomInt(2) - 0.5).join("\n");
}

describe("S10: a text in pieces", () => {
  test.each([1, 2, 7, 64, 4_096])("equals the redacted whole, with a break at most every %i characters", (longest) => {
    for (let round = 0; round < 6; round += 1) {
      const feint = round % 2 === 0;
      const text = log(feint);
      const pieces = [...cut(text, longest)];
      // Two separate redactors: one must not know key pieces that the other has seen.
      const [got, wanted] = [inPieces(text, pieces, redactor({ env })), redactor({ env })(text)];
      // After a feint, either may classify another secret as a piece of a key: both redact it all the same.
      const kind = /\[redacted:[\w-]+\]/g;
      if (feint) expect(got.replace(kind, "[redacted]")).toBe(wanted.replace(kind, "[redacted]"));
      else expect(got).toBe(wanted);
    }
  });

  test("becomes the same broken at each single place", () => {
    const text = `a ${secrets()["github-token"]?.[0]} token: "${random(12)}1a2B" ${env.MY_PASSWORD} ${privateKey()} z`;
    const whole = redact(text);
    // All positions in long mode, else a sample, a few characters apart.
    const step = process.env.BANYAN_LONG === "1" ? 1 : 11;
    for (let at = randomInt(step); at <= text.length; at += step) {
      expect(inPieces(text, [text.slice(0, at), text.slice(at)])).toBe(whole);
    }
  });

  test("is given out as soon as no secret can begin in it", () => {
    const stream = redact.stream();
    expect(stream.push("compiling ")).toBe("compiling ");
    expect(stream.push("ghp_")).toBe("");
    expect(stream.push("short and")).toBe("ghp_short ");
    expect(stream.push("\n")).toBe("and\n");
    expect(stream.push("the correct horse")).toBe("the ");
    expect(stream.push(" 8 ")).toBe("correct horse 8 ");
    expect(stream.end()).toBe("");
  });

  test("is not held back for ever when it is one endless word", () => {
    const stream = redact.stream();
    const piece = random(1_000);
    let given = 0;
    let held = 0;
    for (let pushed = 0; pushed < 1_000_000; pushed += piece.length) {
      given += stream.push(piece).length;
      held = Math.max(held, pushed + piece.length - given);
    }
    expect(held).toBeLessThan(20_000);
    expect(given + stream.end().length).toBe(1_000_000);
  });

  test("takes a time that grows with its length, also when its lines are long words", () => {
    const stream = redact.stream();
    const line = `${"a".repeat(20_000)}\n`;
    let given = 0;
    for (let pushed = 0; pushed < 300; pushed += 1) given += stream.push(line).length;
    expect(given + stream.end().length).toBe(300 * line.length);
  });

  test("hides secrets in the middle of an endless word", () => {
    const tokens = Array.from({ length: 300 }, () => secrets()["slack-token"]?.[0] ?? "");
    const text = tokens.map((token) => "/".repeat(randomInt(1, 200)) + token).join("");
    const given = inPieces(text, [...cut(text, 500)]);
    expect(given).toBe(redact(text));
    for (const token of tokens) expect(given).not.toContain(token);
  });
});
