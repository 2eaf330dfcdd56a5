import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelError } from "@banyan/core";
import { expect, test } from "vitest";
import { redactor } from "../redaction/redactor.ts";
import { ProgramLog } from "./program-log.ts";

const KEY = "sk-secret-0123456789abcdef0123456789";
const redact = redactor({ env: { OPENAI_API_KEY: KEY } });
const folder = () => join(mkdtempSync(join(tmpdir(), "log-")), "state");

test("F29: the log has a provider's whole error, without secrets, for the user alone", () => {
  const log = new ProgramLog(folder(), redact);
  const page = `<html>${"<p>x</p>\n".repeat(2000)}your key is ${KEY}</html>`;
  log.modelError(new ModelError("provider", "It failed.", { detail: page, status: 500 }));
  log.modelError(new ModelError("quota", `No credit for ${KEY}.`));
  const text = readFileSync(log.file, "utf8");
  const [first, second, ...rest] = text.trimEnd().split("\n");
  expect(rest).toEqual([]);
  expect(JSON.parse(first ?? "")).toMatchObject({ code: "provider", status: 500, message: "It failed." });
  expect(JSON.parse(first ?? "").detail).toHaveLength(page.replace(KEY, redact(KEY)).length);
  expect(JSON.parse(second ?? "")).toMatchObject({ code: "quota" });
  expect(text).not.toContain(KEY);
  expect(statSync(log.file).mode & 0o777).toBe(0o600);
});

test("F29: a full log begins again, and its predecessor stays", () => {
  const log = new ProgramLog(folder(), redact);
  const error = new ModelError("provider", "It failed.");
  log.modelError(error);
  writeFileSync(log.file, "x".repeat(5 * 1024 * 1024));
  log.modelError(error);
  expect(readFileSync(log.file, "utf8").trimEnd().split("\n")).toHaveLength(1);
  expect(statSync(`${log.file}.1`).size).toBe(5 * 1024 * 1024);
});

test("F29: a log that cannot be written causes no failure", () => {
  const file = join(mkdtempSync(join(tmpdir(), "log-")), "file");
  writeFileSync(file, "");
  expect(() => new ProgramLog(file, redact).modelError(new ModelError("provider", "No."))).not.toThrow();
});
