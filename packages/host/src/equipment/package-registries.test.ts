import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packageRegistries } from "./package-registries.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-registries-")));
});
afterEach(() => rmSync(home, { recursive: true }));

function write(path: string, ...lines: readonly string[]): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

const registries = (env: Record<string, string> = {}, writable = [join(home, "project")]) =>
  packageRegistries({ home, env, writable });

test("S38: the package registries are those that the user's own files and variables name", () => {
  write(
    ".npmrc",
    "# registry=https://comment.example",
    "registry=https://npm.example/path/",
    "@a:registry = http://a.example:4873",
    "//npm.example/:_authToken=secret",
  );
  write(
    ".config/pip/pip.conf",
    "[global]",
    "index-url = https://user:secret@pip.example/simple",
    "extra-index-url =",
    "    https://extra.example",
  );
  write(".cargo/config.toml", "[registries.mine]", 'index = "sparse+https://cargo.example/index/"');
  write(".config/go/env", "GOPROXY=https://go.example,direct");
  expect(
    registries({ GOPROXY: "https://go.example|https://go2.example", PIP_INDEX_URL: "https://[::1]:8080/x" }),
  ).toEqual([
    "npm.example:443",
    "a.example:4873",
    "pip.example:443",
    "extra.example:443",
    "cargo.example:443",
    "go.example:443",
    "[::1]:8080",
    "go2.example:443",
  ]);
});

test("S38: without such files there are none, and no file counts that a command can write", () => {
  expect(registries()).toEqual([]);
  write("project/.npmrc", "registry=https://planted.example");
  symlinkSync(join(home, "project/.npmrc"), join(home, ".npmrc"));
  expect(registries()).toEqual([]);
  expect(registries({}, [])).toEqual(["planted.example:443"]);
});
