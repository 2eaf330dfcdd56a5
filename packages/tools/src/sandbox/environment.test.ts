import { expect, test } from "vitest";
import { childEnvironment } from "./environment.ts";

test.each([
  "OPENAI_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "GITHUB_TOKEN",
  "DB_PASSWORD",
  "PGPASSWORD",
  "DB_PASS",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "npm_config__auth",
  "GH_PAT",
  "apiKey",
])("S10: %s looks like a secret and is left out", (name) => {
  expect(childEnvironment({ [name]: "x", HOME: "/home/u" }, {})).toEqual({ HOME: "/home/u" });
});

test("S10: an address with a password in it is left out", () => {
  const inherited = {
    DATABASE_URL: "postgres://u:p@host/db",
    HOMEPAGE: "https://example.com/a:b@c",
    CACHE: "redis://:p@h",
  };
  expect(childEnvironment(inherited, {})).toEqual({ HOMEPAGE: "https://example.com/a:b@c" });
});

test.each(["PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "EDITOR", "COMPATIBLE", "TERM"])("%s is passed on", (name) => {
  expect(childEnvironment({ [name]: "x" }, {})).toEqual({ [name]: "x" });
});

test("a command gets listed variables unchanged, and loses those without a value", () => {
  expect(childEnvironment({ PATH: "/bin", LANG: "C" }, { MY_TOKEN: "t", LANG: undefined })).toEqual({
    PATH: "/bin",
    MY_TOKEN: "t",
  });
});
