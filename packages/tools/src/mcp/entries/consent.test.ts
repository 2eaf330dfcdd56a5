import { describe, expect, test } from "vitest";
import { commandDigest, describeEntry, type McpServerEntry } from "../index.ts";

const program: McpServerEntry = {
  command: "npx",
  args: ["-y", "tool@1"],
  cwd: "sub",
  env: { TOKEN: `\${TOKEN}`, MODE: "fast" },
};
const remote: McpServerEntry = {
  url: "https://example.com/mcp",
  headers: { A: `\${KEY:-none}` },
  oauth: { clientId: "me" },
};

describe("S6: consent is given to one command", () => {
  test("equal entries have the same digest, whatever the order of their keys and their timeout", () => {
    const { command, args, cwd, env } = program as Extract<McpServerEntry, { command: string }>;
    const again = { disabled: true, timeout: 5, cwd, args, command, env: { MODE: "fast", TOKEN: env?.TOKEN ?? "" } };
    expect(commandDigest(again)).toBe(commandDigest(program));
    expect(commandDigest(program)).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    [{ ...program, command: "npx2" }],
    [{ ...program, args: ["-y", "tool@2"] }],
    [{ ...program, args: ["-y tool@1"] }],
    [{ ...program, args: ["tool@1", "-y"] }],
    [{ ...program, cwd: "other" }],
    [{ ...program, env: { TOKEN: `\${TOKEN}` } }],
    [{ ...program, env: { TOKEN: `\${AWS_SECRET_ACCESS_KEY}`, MODE: "fast" } }],
    [{ ...program, env: { TOKEN: `\${TOKEN}`, MODE: "fast", NODE_OPTIONS: "--require ./x.js" } }],
    [remote],
  ])("a change asks again: %j", (changed: McpServerEntry) => {
    expect(commandDigest(changed)).not.toBe(commandDigest(program));
  });

  test.each([
    [{ ...remote, url: "https://example.org/mcp" }],
    [{ ...remote, headers: { A: `\${OTHER}` } }],
    [{ ...remote, oauth: { clientId: "you" } }],
  ])("a change of an entry with an address asks again: %j", (changed: McpServerEntry) => {
    expect(commandDigest(changed)).not.toBe(commandDigest(remote));
  });
});

test("S6: the consent question shows the whole entry, with the user's variables that the server gets", () => {
  expect(describeEntry(program)).toBe(
    `npx -y tool@1 in sub, whose files decide what runs, with TOKEN=\${TOKEN} MODE=fast with access to your TOKEN`,
  );
  expect(describeEntry(remote)).toBe(
    `https://example.com/mcp with A=\${KEY:-none} signing in with clientId=me with access to your KEY`,
  );
});

test.each([
  [{ command: "npx", args: ["-y", "tool"] }, "npx -y tool in the root folder"],
  [{ command: "uvx", args: ["tool"], cwd: "." }, "uvx tool in ., whose files decide what runs,"],
  [{ command: "node", args: ["server.js"] }, "node server.js"],
  [{ command: "node", args: ["server.js"], cwd: "sub" }, "node server.js in sub"],
])("S16: the consent question shows where a package runner starts: %j", (entry, said) => {
  expect(describeEntry(entry)).toBe(said);
});

test("S6: an entry cannot hide a part from the consent question", () => {
  expect(describeEntry({ command: "sh", args: ["-c", "rm -rf /; #\u202e ok\u200b\x1b[2K", ""] })).toBe(
    'sh -c "rm -rf /; #\\u202e ok\\u200b\\u001b[2K" ""',
  );
});
