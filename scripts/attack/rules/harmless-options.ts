import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../../packages/cli/src/testing/model-server.ts";
import type { Attack } from "../attack.ts";
import { commandAttacks } from "../commands.ts";

// S24: an "always" rule for a program's harmless options runs no other program.

const ALWAYS = [
  "rg",
  "sort",
  "git log",
  "git diff",
  "git grep",
  "git show",
  "find",
  "sed",
  "date",
  "tree",
  "npm test",
  "go test",
]
  .map((start) => `shell(${start} [harmless])`)
  .flatMap((rule) => ["--allow", rule]);

const commands = commandAttacks({
  rule: "S24",
  planted: ["evil"],
  flags: ALWAYS,
  commands: [
    "rg --pre ./evil x .",
    "rg --pre=./evil x .",
    "rg x --pre ./evil",
    "rg {--pre,./evil} x",
    "rg --hostname-bin ./evil --hyperlink-format default x",
    "sort --compress-program=./evil -S 1k evil",
    "sort --compress-prog ./evil -S 1k evil",
    "git log --ext-diff -p",
    "git grep -O./evil x",
    "git grep --no-index -O./evil bin",
    "git grep --open-files-in-pager=./evil x",
    "git -c core.pager=./evil log",
    "git -c alias.log=!./evil log",
    "git -c diff.external=./evil diff --no-index evil ls",
    "find . -exec ./evil ;",
    "find . -name evil -exec {} ;",
    "find . -maxdepth 0 -execdir ./evil ;",
    "find . -okdir ./evil ;",
    "sed '1e ./evil' evil",
    "sed -n 1,80p -e 1e./evil evil",
    "sed -n '1p;1e ./evil' evil",
    "npm test --script-shell=./evil",
    "npm test --node-options=--require=./evil",
    "go test -exec ./evil ./...",
    "go test -toolexec ./evil ./...",
    "git diff -U --output=ran-evil 0 1",
    "git diff --unified --output=ran-evil 0 1",
  ].map((command) => command.replace(/ ;$/, " \\;")),
});

const SERVER = `
process.stdin.setEncoding("utf8");
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const answers = {
      initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
      "tools/list": () => ({ tools: [{ name: "copy", inputSchema: { type: "object" } }] }),
      "tools/call": () => ({ content: [{ type: "text", text: "WROTE " + JSON.stringify(params.arguments) }] }),
    };
    const result = answers[method]?.() ?? {};
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  }
});
`;

const places: readonly object[] = [
  { destination: "/etc/passwd" },
  { destination: " ~/.bashrc" },
  { options: { to: ["../elsewhere"] } },
  { destination: "src/../../elsewhere" },
  { destination: "package.json" },
];

const copies = places.map(
  (place_, index): Attack => ({
    rule: "S24",
    name: `an MCP tool that is allowed for a path, with another place beside it (${index + 1})`,
    async attempt(place) {
      // Inside the workspace, because the sandbox closes the home folder.
      const server = join(place.folder, "server.mjs");
      writeFileSync(server, SERVER);
      const { code, stderr } = await place.banyan(["mcp", "add", "files", process.execPath, server]);
      if (code !== 0) throw new Error(stderr);
      const copy = (more: object) => ({ tool: "mcp_files_copy", input: { path: "src/a", ...more } });
      await using model = await modelServer({ calls: [copy({ encoding: "utf8" }), copy(place_)] }, { text: "done" });
      const args = ["-p", "go", "--model", "openai-compatible/test", "--allow", "mcp_files_copy(src/**)"];
      const run = await place.banyan(args, { env: model.env });
      const told = (model.asked.at(-1) ?? []).flatMap(({ role, content }) =>
        role === "tool" ? [String(content)] : [],
      );
      const [good = "", bad = ""] = told.slice(-2);
      if (!good.includes("WROTE")) throw new Error(`The server was not called at all: ${told} ${run.stderr}`);
      return bad.includes("WROTE") ? bad.slice(0, 100) : undefined;
    },
  }),
);

export const attacks: readonly Attack[] = [...commands, ...copies];
