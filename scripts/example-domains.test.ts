import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Hosts that nobody can own (RFC 2606, RFC 6761), and hosts of one machine or network. */
const RESERVED = /(^|\.)(example\.(com|org|net)|example|test|invalid|localhost|internal|local)$|^[^.]*$|^[\d.]+$/;

/**
 * Real hosts: asked by the product, cited by docs and comments, or part of other projects' formats. No example may use
 * one.
 */
const MEANT: ReadonlySet<string> = new Set([
  // Model services and search services.
  ...[
    "api.anthropic.com",
    "api.openai.com",
    "eu.api.openai.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.x.ai",
    "api.deepseek.com",
  ],
  ...["generativelanguage.googleapis.com", "openrouter.ai", "api.tavily.com", "api.search.brave.com"],
  // Cited: specifications, documentation and licences.
  ...["www.rfc-editor.org", "datatracker.ietf.org", "www.w3.org", "json-schema.org", "spec.openapis.org", "semver.org"],
  ...["specifications.freedesktop.org", "html.spec.whatwg.org", "www.commonmark.org", "www.apache.org", "nodejs.org"],
  ...["keepachangelog.com", "sqlite.org", "www.sqlite.org", "www.postgresql.org", "git-scm.com", "restate.dev"],
  ...["github.com", "github.blog", "docs.gitlab.com", "docs.aws.amazon.com", "docs.stripe.com", "cloud.google.com"],
  ...[
    "replicate.com",
    "platform.openai.com",
    "docs.claude.com",
    "code.claude.com",
    "platform.claude.com",
    "developers.openai.com",
    "docs.ollama.com",
    "lmstudio.ai",
    "docs.x.ai",
    "ai-sdk.dev",
    "agentskills.io",
  ],
  ...["modelcontextprotocol.io", "agentclientprotocol.com", "docs.ag-ui.com", "docs.searxng.org", "docs.tavily.com"],
  ...[
    "api-dashboard.search.brave.com",
    "api.slack.com",
    "core.telegram.org",
    "www.npmjs.com",
    "brave.com",
    "tavily.com",
  ],
  ...["raw.githubusercontent.com", "schemathesis.readthedocs.io"],
  // Documentation of model providers and servers.
  ...["ai.google.dev", "api-docs.deepseek.com", "console.groq.com", "docs.mistral.ai", "docs.vllm.ai", "docs.z.ai"],
  ...[
    "fastapi.tiangolo.com",
    "developers.cloudflare.com",
    "help.aliyun.com",
    "huggingface.co",
    "learn.microsoft.com",
    "qwen.readthedocs.io",
  ],
  // Formats of other projects: git-lfs pointers, Google errors, Slack web hooks, examples of CommonMark and GFM.
  ...["git-lfs.github.com", "type.googleapis.com", "hooks.slack.com"],
  ...["commonmark.org", "www.google.com", "encrypted.google.com"],
]);

/** Recordings of other programs and servers, which stay unchanged. */
const RECORDED = /(^|\/)fixtures\/|servers\.fixture\.jsonl$|^package-lock\.json$|\.(png|svg|woff2?|ico|wasm)$/;

/** Package registries: a copied example would send requests there. */
const REGISTRY =
  /\b(registry\.npmjs\.org|registry\.yarnpkg\.com|npmjs\.org|pypi\.org|crates\.io|proxy\.golang\.org|rubygems\.org)\b/;

const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && !RECORDED.test(file) && !import.meta.filename.endsWith(file));

function hostsIn(text: string): string[] {
  return [
    ...text.matchAll(/\b(?:https?|wss?):\/\/(?:[\w.~%-]+(?::[^\s@/]*)?@)?([A-Za-z\d][A-Za-z\d.-]*[A-Za-z\d])/g),
  ].map(([, host = ""]) => host.toLowerCase());
}

test("S32: an address in code, tests and docs is an example that nobody can own, or one that is meant", () => {
  expect(files.length).toBeGreaterThan(1_000);
  const wrong = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const hosts = hostsIn(text).filter((host) => !RESERVED.test(host) && !MEANT.has(host));
    const [registry] = REGISTRY.exec(text) ?? [];
    return [...new Set([...hosts, ...(registry === undefined ? [] : [registry])])].map((host) => `${file}: ${host}`);
  });
  expect(wrong).toEqual([]);
});

test("S32: addresses of others are found, whatever stands around them", () => {
  expect(hostsIn("see https://user:pw@Evil.net:80/x, <wss://a.b.dev> and http://x.example.com.")).toEqual([
    ...["evil.net", "a.b.dev", "x.example.com"],
  ]);
  expect(RESERVED.test("example.com.evil.net") || RESERVED.test("myexample.com")).toBe(false);
});
