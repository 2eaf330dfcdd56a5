import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { describe, expect, test } from "vitest";
import { redactor } from "./redactor.ts";
import { jwt, privateKey, random, secrets } from "./secrets.fixture.ts";

const redact = redactor({ env: {} });

describe("S10: secrets with a known form", () => {
  test.each(Object.entries(secrets()))("%s", (kind, samples) => {
    for (const secret of samples) {
      expect(redact(secret)).toBe(`[redacted:${kind}]`);
      expect(redact(`before ${secret} after`)).toBe(`before [redacted:${kind}] after`);
      expect(redact(`"${secret}",`)).toBe(`"[redacted:${kind}]",`);
      expect(redact(`TOKEN=${secret}\nx`)).toBe(`TOKEN=[redacted:${kind}]\nx`);
      expect(redact(`1:${secret}\n`)).toBe(`1:[redacted:${kind}]\n`);
    }
  });

  test("a private key is found in any line layout", () => {
    const key = privateKey();
    const lines = key.split("\n");
    const shown = [
      lines.map((line, index) => `${index + 1}\t${line}`).join("\n"),
      lines.map((line) => `+${line}`).join("\n"),
      lines.map((line) => `  > ${line}`).join("\r\n"),
      lines.map((line) => `"${line}\\n" +`).join("\n"),
      key.replace(/\n/, "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n"),
      JSON.stringify({ private_key: key }),
      lines.slice(0, -4).join("\n"),
    ];
    for (const text of shown) {
      const redacted = redact(`a\n${text}\nb`);
      expect(redacted).toContain("[redacted:private-key]");
      for (const line of lines.slice(1, -4)) expect(redacted).not.toContain(line);
      expect(redacted).toMatch(/^a\n/);
      expect(redacted).toMatch(/\nb$/);
    }
  });
});

describe("S10: secrets of the environment", () => {
  const env = {
    MY_API_KEY: "zw8/qr+9=Lm4x",
    SERVICE_PASSWORD: "correct horse 7 staple",
    DATABASE_URL: "postgres://app:p4ss-w0rd@db.example/app",
    GOOGLE_CREDENTIALS: '{"a":"b7c8d9"}',
    SECRET_PATH: "/run/secrets/key1",
    KEY_COUNT: "12345678",
    TOKEN_KIND: "production",
    SHORT_KEY: "a1b2",
    HOME: "/home/somebody-1",
  };
  const redactEnv = redactor({ env });

  test("are replaced by the name of the variable, also in JSON and addresses", () => {
    expect(redactEnv("a zw8/qr+9=Lm4x b")).toBe("a [redacted:MY_API_KEY] b");
    expect(redactEnv(`?key=${encodeURIComponent(env.MY_API_KEY)}`)).toBe("?key=[redacted:MY_API_KEY]");
    expect(redactEnv("my correct horse 7 staple!")).toBe("my [redacted:SERVICE_PASSWORD]!");
    expect(redactEnv("the password is p4ss-w0rd")).toBe("the password is [redacted:DATABASE_URL]");
    expect(redactEnv(JSON.stringify({ x: env.GOOGLE_CREDENTIALS }))).toBe('{"x":"[redacted:GOOGLE_CREDENTIALS]"}');
  });

  test("are replaced together with the rest of a longer secret", () => {
    expect(redactEnv("password=zw8/qr+9=Lm4x77Kq end")).toBe("password=[redacted:MY_API_KEY] end");
    expect(redactEnv("password=77Kqzw8/qr+9=Lm4x end")).toBe("password=[redacted:MY_API_KEY] end");
  });

  test("is left when it is short, a path, a number or a word: that may mean something else", () => {
    const text = "/run/secrets/key1 12345678 production a1b2 /home/somebody-1";
    expect(redactEnv(text)).toBe(text);
  });
});

describe("S10: secrets that the text itself names", () => {
  test.each([
    ['password: "Tr0ub4dor&3"', 'password: "[redacted:secret]"'],
    ["DB_PASSWORD=x7Kp9-Lq2z", "DB_PASSWORD=[redacted:secret]"],
    ["api_key => 'a8f5f167f44f4964e6c998dee827110c'", "api_key => '[redacted:secret]'"],
    ['"client_secret":"9fQ3xLw0ZpT7"', '"client_secret":"[redacted:secret]"'],
    ["aws_secret_access_key = kX9/2mQ7+pL4vN8rT1wY6zB3cD5fG0hJ/aSeUiOo", "aws_secret_access_key = [redacted:secret]"],
    ["Authorization: Bearer 9fQ3xLw0ZpT7mN5k", "Authorization: Bearer [redacted:credential]"],
    [
      "//registry.example.com/:_authToken=3f2b8c9e-1d4a-4b6f-9e8d-7c6b5a4f3e2d",
      "//registry.example.com/:_authToken=[redacted:secret]",
    ],
    ["//npm.example/:_authToken=aRegistryMayGiveOutWords", "//npm.example/:_authToken=[redacted:secret]"],
    ["postgres://app:s3cretPass@db/app", "postgres://app:[redacted:password]@db/app"],
    ["https://me:hunter2x@example.com/x?y", "https://me:[redacted:password]@example.com/x?y"],
    ["https://abc123def456:x-oauth-basic@github.com/a/b", "https://[redacted:github-token]@github.com/a/b"],
    ["redis://:q1w2e3r4@cache:6379", "redis://:[redacted:password]@cache:6379"],
  ])("%s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe("text without secrets stays unchanged", () => {
  test.each([
    "const token = parseToken2(input);",
    "password: string;",
    'type: "password", name: "password1"',
    'secretName: "my-app-secret-v2"',
    "export const apiKey = process.env.OPENAI_API_KEY2;",
    ["API_KEY=$", "{{ secrets.API_KEY_2 }}"].join(""),
    "API_KEY=your-api-key-1a2b3c4d",
    "password=$DB_PASSWORD1",
    ["//npm.example/:_authToken=$", "{NPM_TOKEN}"].join(""),
    '"nextPageToken": "CAUQAA1b2C3d4"',
    "token_expires_at: 2026-11-21T23:07:27Z",
    "maxTokens: 65536",
    "PWD=/work/main/a1b2c3d4e5",
    "secret_key_path=/etc/ssl/private/x1y2z3.pem",
    "commit 74d6c36b1c5a9c7d8e9f0a1b2c3d4e5f6a7b8c9d",
    "550e8400-e29b-41d4-a716-446655440000",
    '"integrity": "sha512-yfTQMm1ZV6FEFCpeyzYJ3dwHzLVXDyCUbHGPaEGEcMZQy9Vp6Q1GUZ7sLsh4g==",',
    'checksum = "8b9a5f0a3b1c2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6"',
    "github.com/x/y v1.2.3 h1:0bX6aGqz2G8w1lF3nK5pQ7rS9tU1vW3xY5zA7bC9dE=",
    'if (pem.includes("-----BEGIN PRIVATE KEY-----")) return;',
    "A file that begins with -----BEGIN RSA PRIVATE KEY----- holds a key and is not read.",
    "git@github.com:owner/repository.git",
    "http://user:password@localhost:8080 https://user:pass@example.com",
    "see https://example.com:8080/a@b and mailto:x@y.example",
    "sk-loading-indicator-wrapper sk-1",
    "npm_config_user_agent npm_package_dependencies_something_rather_long",
    "AKIA is how they begin; EXAMPLE",
    "var token = this$1$1.getToken(); progressToken: ProgressTokenSchema$1.optional()",
  ])("%s", (text) => {
    expect(redact(text)).toBe(text);
  });

  test("neither in the sources of this repository nor in its lock file", () => {
    const root = fileURLToPath(new URL("../../../..", import.meta.url));
    const files = globSync(["packages/*/src/**/*.ts", "docs/*.md", "*.json", "packages/*/package.json"], { cwd: root });
    expect(files.length).toBeGreaterThan(300);
    // Tests contain texts that look like secrets on purpose.
    const changed = files
      .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
      .filter((file) => {
        const text = readFileSync(join(root, file), "utf8");
        return redact(text) !== text;
      });
    expect(changed).toEqual([]);
  });
});

test("S10: an independent scanner finds every secret before, and none after", async () => {
  const scan = async (content: string) => {
    const source = { filePath: ".npmrc", content, ext: ".npmrc", contentType: "text" } as const;
    const config = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] };
    return (await lintSource({ source, options: { config } })).messages;
  };
  const lines = Object.values(secrets()).flat();
  const text = [
    ...lines.map((secret, index) => `line ${index}: ${secret} end`),
    `aws_secret_access_key = ${random(38)}/9`,
    `//registry.example.com/:_authToken=${random(36)}`,
    `postgres://app:${random(16)}@db.example/app`,
    `mongodb+srv://app:${random(16)}@cluster.example/app`,
    `mysql://app:${random(16)}@db.example/app`,
    `https://somebody:${random(16)}@example.com/`,
    `https://${random(40)}:x-oauth-basic@github.com/a/b`,
    jwt(),
  ].join("\n");
  const found = new Set((await scan(text)).map(({ ruleId }) => ruleId));
  expect(found.size).toBeGreaterThan(20);
  // The scanner takes a placeholder in an address for a password, but not a variable.
  const redacted = redact(text).replaceAll(/\[redacted:[\w-]+\]/g, "$REDACTED");
  expect((await scan(redacted)).map(({ message }) => message)).toEqual([]);
});

test("done again, it changes nothing more", () => {
  const text = Object.values(secrets()).flat().join(" token=");
  expect(redact(redact(text))).toBe(redact(text));
});

test("the time grows with the length of any text", () => {
  // With quadratic time, neither would end.
  const length = process.env.BANYAN_LONG === "1" ? 4_000_000 : 1_000_000;
  const hostile = [
    "sk-",
    "sk-ant-aa-",
    "ghs_1_",
    "eyJ.",
    "eyJaaaaaaaaaa.",
    "token",
    "token=",
    "password : ",
    "api_key-",
    "a://b:c",
    "://",
    `x://${"a".repeat(256)}:`,
    "-----BEGIN PRIVATE KEY-----\n",
    `-----BEGIN PRIVATE KEY-----\n${"A".repeat(64)}\n`,
    `-----BEGIN PRIVATE KEY-----${"A: ".repeat(20)}`,
    "Bearer ",
    "1234567890:AA",
    "a",
    " ",
    "1",
  ];
  for (const piece of hostile) {
    const text = piece.repeat(length / piece.length);
    expect(redact(text).length).toBeLessThanOrEqual(text.length + 30);
  }
});
