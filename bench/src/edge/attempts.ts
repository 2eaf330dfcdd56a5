import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalMode } from "@banyan/host";
import { EdgeConversation, type Questions } from "./conversation.ts";
import type { Servers } from "./servers.ts";

/** Programs that find a proxy in variables skip the proxy for 127.0.0.1, where the registries of this test are. */
const BY_PROXY = "export NO_PROXY= no_proxy=;";

/** The packages of this repository. */
const PACKAGES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** Milliseconds for a command that downloads. */
const PATIENCE = 300_000;

/** A program at the edge of the sandbox. */
interface Attempt {
  readonly name: string;
  /** The program that must be installed. */
  readonly program: string;
  /** The command as the table shows it. */
  readonly shown: string;
  readonly isInRepository?: true;
  /** Files of the workspace before the command. */
  readonly files?: (servers: Servers) => Readonly<Record<string, string>>;
  /** The command, or a reason why this machine cannot try the command. */
  readonly command: (servers: Servers) => string | { readonly problem: string };
  /** The text that the output contains after a success. */
  readonly wanted: string;
}

export const attempts: readonly Attempt[] = [
  {
    name: "npm",
    program: "npm",
    shown: "`npm install`, with its cache in `$TMPDIR`",
    files: ({ address }) => ({
      "package.json": JSON.stringify({ type: "module", dependencies: { "leaf-names": "^1.0.0" } }),
      ".npmrc": `registry=http://${address}/\n`,
    }),
    command: () =>
      `${BY_PROXY} npm_config_cache=$TMPDIR/npm npm install && node -e 'import("leaf-names").then(({ leaf }) => console.log(leaf()))'`,
    wanted: "oak",
  },
  {
    name: "pip",
    program: "pip",
    shown: "`pip install`, in a new virtual environment",
    command: ({ address }) =>
      `${BY_PROXY} python3 -m venv env && env/bin/pip install --index-url http://${address}/simple leaf-names && env/bin/python -c 'import leaf_names; print(leaf_names.leaf())'`,
    wanted: "oak",
  },
  {
    name: "cargo",
    program: "cargo",
    shown: "`cargo fetch`, with `CARGO_HOME` in `$TMPDIR`",
    files: ({ address }) => ({
      "Cargo.toml":
        '[package]\nname = "tree"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\nleaf_names = "1"\n',
      "src/main.rs": 'fn main() {\n    println!("{}", leaf_names::leaf());\n}\n',
      ".cargo/config.toml": `[source.crates-io]\nreplace-with = "own"\n\n[source.own]\nregistry = "sparse+http://${address}/cargo/"\n`,
    }),
    command: () => `${BY_PROXY} export CARGO_HOME=$TMPDIR/cargo; cargo fetch && cargo run --offline`,
    wanted: "oak",
  },
  {
    name: "go",
    program: "go",
    shown: "`go get`, with `GOMODCACHE` in `$TMPDIR`",
    files: () => ({
      "go.mod": "module example.org/tree\n\ngo 1.20\n",
      "main.go":
        'package main\n\nimport (\n\t"fmt"\n\n\t"example.org/leaf"\n)\n\nfunc main() { fmt.Println(leaf.Leaf()) }\n',
    }),
    command: ({ host, address }) =>
      host.startsWith("127.")
        ? { problem: "Go uses no proxy for the loopback" }
        : `${BY_PROXY} export GOPROXY=http://${address}/go GOSUMDB=off GOMODCACHE=$TMPDIR/go GOFLAGS=-modcacherw; go get example.org/leaf@v1.0.0 && go run .`,
    wanted: "oak",
  },
  {
    name: "git-clone",
    program: "git",
    shown: "`git clone http://...`, into `$TMPDIR`",
    command: ({ address }) =>
      `${BY_PROXY} git clone http://${address}/garden.git $TMPDIR/garden && cat $TMPDIR/garden/leaf.txt`,
    wanted: "oak",
  },
  {
    name: "git-fetch",
    program: "git",
    shown: "`git fetch http://...`",
    isInRepository: true,
    command: ({ address }) => `${BY_PROXY} git fetch http://${address}/garden.git main && git show FETCH_HEAD:leaf.txt`,
    wanted: "oak",
  },
  {
    name: "git-ssh",
    program: "ssh",
    shown: "`git fetch ssh://...`, with a key in the workspace",
    isInRepository: true,
    command: ({ host, ssh, garden }) =>
      typeof ssh === "string"
        ? { problem: ssh }
        : `GIT_SSH_COMMAND="$GIT_SSH_COMMAND -F none -i key -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=known" git fetch ssh://${ssh.user}@${host}:${ssh.port}${garden} main && git show FETCH_HEAD:leaf.txt`,
    wanted: "oak",
  },
  {
    name: "ssh",
    program: "ssh",
    shown: "`ssh` without the proxy, with a key in the workspace",
    command: ({ host, ssh }) =>
      typeof ssh === "string"
        ? { problem: ssh }
        : `getent hosts server.invalid || echo "Could not resolve host"; ssh -F none -i key -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=known -p ${ssh.port} ${ssh.user}@${host} echo oak`,
    wanted: "oak",
  },
  {
    name: "vitest",
    program: "node",
    shown: "`vitest run`",
    files: () => ({
      "package.json": '{ "type": "module" }',
      "leaf.test.js": 'import { expect, test } from "vitest";\n\ntest("leaf", () => expect("oak").toHaveLength(3));\n',
    }),
    command: () =>
      `ln -s ${PACKAGES} node_modules && env -i PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" node ${PACKAGES}/vitest/vitest.mjs run`,
    wanted: "1 passed",
  },
];

/** The result of an attempt. */
export interface Outcome {
  readonly works: boolean;
  readonly questions: Questions;
  readonly seconds: number;
  readonly output: string;
}

/** Makes an attempt in a conversation of its own. Returns a reason if the attempt is not possible here. */
export async function make(attempt: Attempt, servers: Servers, approval: ApprovalMode): Promise<Outcome | string> {
  const { program, isInRepository = false, files, command, wanted } = attempt;
  if (!isInstalled(program)) return `${program} is not installed`;
  const given = command(servers);
  if (typeof given === "object") return given.problem;
  await using conversation = await EdgeConversation.begin(approval);
  if (isInRepository) execFileSync("git", ["init", "-q"], { cwd: conversation.folder });
  if (program === "ssh" && typeof servers.ssh === "object")
    copyFileSync(servers.ssh.key, join(conversation.folder, "key"));
  put(conversation.folder, files?.(servers) ?? {});
  const began = performance.now();
  const output = await conversation.shell(given, { timeout: PATIENCE });
  const lines = output.split("\n");
  return {
    works: lines.some((line) => line.includes(wanted)) && !lines.some((line) => /^exit code \d+$/.test(line)),
    questions: conversation.questions,
    seconds: (performance.now() - began) / 1000,
    output,
  };
}

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** The results of the fix. */
export interface Fix {
  /** The test before and after the new dependency. */
  readonly before: string;
  readonly after: string;
  /** The text that the agent's tool `fetch` shows. */
  readonly fetched: string;
  /** The text that a browser outside of the sandbox shows. */
  readonly shown: string;
  readonly questions: Questions;
  readonly seconds: number;
}

/** Mends a failing test that needs a new dependency, and starts a Vite server that shows the dependency's text. */
export async function fixProject(
  { address: registry }: Servers,
  approval: ApprovalMode,
  show: (address: string) => Promise<string>,
): Promise<Fix> {
  await using conversation = await EdgeConversation.begin(approval);
  put(conversation.folder, {
    "package.json": JSON.stringify({ type: "module", scripts: { test: "node --test" } }),
    ".npmrc": `registry=http://${registry}/\n`,
    "tree.test.js":
      'import assert from "node:assert";\nimport { test } from "node:test";\nimport { leaf } from "leaf-names";\n\ntest("leaf", () => assert.equal(leaf(), "oak"));\n',
    "index.html": '<!doctype html><p id="leaf">none</p><script type="module" src="/main.js"></script>\n',
    "main.js": 'import { leaf } from "leaf-names";\n\ndocument.querySelector("#leaf").textContent = leaf();\n',
  });
  const began = performance.now();
  const before = await conversation.shell("npm test");
  await conversation.shell(`${BY_PROXY} npm_config_cache=$TMPDIR/npm npm install leaf-names`, { timeout: PATIENCE });
  const after = await conversation.shell("npm test");
  await conversation.shell(`node ${PACKAGES}/vite/bin/vite.js --port 5173 --strictPort`, { background: true });
  const address = await conversation.openedPort();
  return {
    before,
    after,
    fetched: await conversation.use("fetch", { url: "http://127.0.0.1:5173/main.js" }),
    shown: await show(address),
    questions: conversation.questions,
    seconds: (performance.now() - began) / 1000,
  };
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
