import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";

/** Biome judges a file for each row. */
const rows: readonly [allowed: "allowed" | "refused", file: string, source: string][] = [
  ["allowed", "packages/models/src", 'import "@banyan/core"'],
  ["allowed", "packages/models/src", 'import "@banyan/core/testing"'],
  ["allowed", "packages/store/src/sqlite", 'import "@banyan/core"'],
  ["allowed", "packages/memory/src", 'import "@banyan/core"'],
  ["allowed", "packages/tools/src/workspace", 'import "node:fs"'],
  ["allowed", "packages/host/src", 'import "@banyan/store/sqlite"'],
  ["allowed", "packages/host/src", 'import "@banyan/tools/workspace"'],
  ["allowed", "packages/server/src", 'import "@banyan/host"'],
  ["allowed", "packages/protocol/src", 'import "@banyan/core/conversation"'],
  ["allowed", "packages/protocol/src/commands", 'import "zod"'],
  ["allowed", "packages/host/src", 'import "@banyan/protocol"'],
  ["allowed", "packages/client/src/link", 'import "@banyan/core/conversation"'],
  ["allowed", "packages/client/src/link", 'import "@banyan/protocol/values"'],
  ["refused", "packages/client/src/link", 'import "@banyan/core"'],
  ["refused", "packages/client/src/link", 'import "@banyan/host"'],
  ["refused", "packages/client/src/link", 'import "node:crypto"'],
  ["refused", "packages/protocol/src", 'import "@banyan/client"'],
  ["refused", "packages/protocol/src", 'import "@banyan/core"'],
  ["refused", "packages/protocol/src", 'import "@banyan/host"'],
  ["refused", "packages/protocol/src", 'import "@banyan/server"'],
  ["refused", "packages/protocol/src", 'import "node:crypto"'],
  ["refused", "packages/core/src", 'import "@banyan/protocol"'],
  ["refused", "packages/tools/src", 'import "@banyan/protocol"'],
  ["allowed", "packages/host/src", 'import "@banyan/telemetry"'],
  ["refused", "packages/telemetry/src", 'import "@banyan/host"'],
  ["allowed", "packages/acp/src", 'import "@banyan/tools/workspace"'],
  ["allowed", "packages/host/src", 'import "@banyan/acp"'],
  ["refused", "packages/acp/src", 'import "@banyan/host"'],
  ["refused", "packages/tools/src", 'import "@banyan/acp"'],
  ["allowed", "packages/server/src/socket", 'import "@banyan/desk/serving"'],
  ["allowed", "packages/desk/src", 'import "@banyan/client"'],
  ["allowed", "packages/desk/src/commands", 'import "@banyan/host/exchange"'],
  ["refused", "packages/desk/src", 'import "@banyan/server"'],
  ["refused", "packages/host/src", 'import "@banyan/desk"'],
  ["refused", "packages/restate/src", 'import "@banyan/desk"'],
  ["refused", "packages/desk/src/live", 'import "ws"'],
  ["refused", "packages/desk/src", 'import "hono/streaming"'],
  ["refused", "packages/desk/src", 'import "@banyan/web"'],
  ["allowed", "packages/cli/src", 'import "@banyan/server"'],
  ["allowed", "packages/cli/src", 'await import("@banyan/restate")'],
  ["allowed", "packages/restate/src", 'import "@banyan/server"'],
  ["refused", "packages/restate/src", 'import "@banyan/store/postgres"'],
  ["refused", "packages/server/src", 'import "@banyan/restate"'],
  ["allowed", "packages/web/src", 'import "@banyan/core/conversation"'],
  ["allowed", "packages/web/src", 'import "@banyan/core/shown"'],
  ["allowed", "packages/web/src", 'import "@banyan/protocol"'],
  ["allowed", "packages/web/src", 'import "@banyan/client"'],
  ["refused", "packages/web/src", 'import "@banyan/client/node"'],
  ["allowed", "examples/src", 'import "@banyan/host"'],
  ["allowed", "bench/src", 'import "@banyan/core"'],
  ["refused", "packages/core/src", 'import "@banyan/core"'],
  ["refused", "packages/core/src/turn", 'import "@banyan/store/sqlite"'],
  ["refused", "packages/core/src/testing", 'import "@banyan/models"'],
  ["refused", "packages/models/src", 'import "@banyan/store/memory"'],
  ["refused", "packages/models/src", 'export * from "@banyan/host"'],
  ["refused", "packages/store/src/sqlite", 'import "@banyan/tools/workspace"'],
  ["refused", "packages/memory/src", 'import "@banyan/models"'],
  ["refused", "packages/tools/src/workspace", 'import "@banyan/host"'],
  ["refused", "packages/tools/src/workspace", 'import type { Host } from "@banyan/host"; export type H = Host'],
  ["refused", "packages/host/src", 'import "@banyan/server"'],
  ["refused", "packages/host/src", 'await import("@banyan/server")'],
  ["refused", "packages/server/src", 'import "@banyan/web"'],
  ["refused", "packages/cli/src", 'import "@banyan/web"'],
  ["refused", "packages/web/src", 'import "@banyan/core"'],
  ["refused", "packages/web/src", 'import "@banyan/core/testing"'],
  ["refused", "packages/web/src", 'import "@banyan/core/hosts"'],
  ["refused", "packages/web/src", 'import "@banyan/server"'],
  ["refused", "packages/web/src", 'import "@banyan/host"'],

  ...[
    "core",
    "protocol",
    "client",
    "models",
    "store",
    "memory",
    "telemetry",
    "tools",
    "acp",
    "host",
    "desk",
    "server",
    "restate",
    "web",
  ].flatMap((name): typeof rows => [
    ["refused", `packages/${name}/src`, 'import "banyan"'],
    ["refused", `packages/${name}/src`, 'import "../../cli/src/main.ts"'],
  ]),
  ["refused", "examples/src", 'import "banyan"'],
  ["refused", "bench/src", 'import "../../packages/core/src/index.ts"'],
  ["refused", "packages/cli/src/commands", 'import "../../../host/src/index.ts"'],
  ["refused", "packages/models/src", 'import "@banyan/core/src/step/step.ts"'],

  // The folders of core: each imports only folders that CONTRIBUTING.md draws below it; testing may import all of them.
  ["allowed", "packages/core/src/conversation", 'import "./message.ts"'],
  ["allowed", "packages/core/src/conversation", 'export * from "./shown/amounts.ts"'],
  ["allowed", "packages/core/src/conversation/tree", 'import "../message.ts"'],
  ["allowed", "packages/core/src/conversation/shown", 'import "./patch.ts"'],
  ["allowed", "packages/core/src/conversation/forms", 'import "../checked/user-content.ts"'],
  ["allowed", "packages/core/src/ports", 'import "../conversation/message.ts"'],
  ["allowed", "packages/core/src/ports", 'import "@standard-schema/spec"'],
  ["allowed", "packages/core/src/model", 'import "../ports/model.ts"'],
  ["allowed", "packages/core/src/ai-sdk", 'import "../model/model-error.ts"'],
  ["allowed", "packages/core/src/ai-sdk", 'import "@ai-sdk/provider"'],
  ["allowed", "packages/core/src/past", 'import "../ports/store.ts"'],
  ["allowed", "packages/core/src/session", 'import "../past/recovery.ts"'],
  ["allowed", "packages/core/src/toolbox", 'import "../model/alarm.ts"'],
  ["allowed", "packages/core/src/run", 'import "../session/session.ts"'],
  ["allowed", "packages/core/src/run", 'import "../toolbox/toolbox.ts"'],
  ["allowed", "packages/core/src/context", 'import "../run/run.ts"'],
  ["allowed", "packages/core/src/calls", 'import "../context/compaction.ts"'],
  ["allowed", "packages/core/src/step", 'import "../calls/calls.ts"'],
  ["allowed", "packages/core/src/turn", 'import "../step/step.ts"'],
  ["refused", "packages/core/src/turn", 'import "node:crypto"'],
  ["refused", "packages/core/src/turn", "export const bytes = Buffer.alloc(1)"],
  ["refused", "packages/core/src/agent", "export const name = process.title"],
  ["refused", "packages/core/src/session", "setImmediate(() => {})"],
  ["allowed", "packages/core/src/testing", 'import "node:crypto"'],
  ["allowed", "packages/core/src/agent", 'import "../turn/turn.ts"'],
  ["allowed", "packages/core/src/agent", 'import "../ai-sdk/language-model.ts"'],
  ["allowed", "packages/core/src/testing", 'import "../agent/agent.ts"'],
  ["allowed", "packages/core/src", 'export * from "./agent/agent.ts"'],
  ["refused", "packages/core/src/conversation", 'import "../ports/model.ts"'],
  ["refused", "packages/core/src/conversation", 'import "node:crypto"'],
  ["refused", "packages/core/src/conversation", 'import "crypto"'],
  ["refused", "packages/core/src/conversation", 'import "zod"'],
  ["refused", "packages/core/src/conversation", "export const name = process.title"],
  ["refused", "packages/core/src/conversation", "export const bytes = Buffer.alloc(1)"],
  ["refused", "packages/core/src/conversation/tree", 'import "../shown/amounts.ts"'],
  ["refused", "packages/core/src/conversation/tree", 'import "../index.ts"'],
  ["refused", "packages/core/src/conversation/tree", 'import "../../ports/model.ts"'],
  ["refused", "packages/core/src/conversation/tree", 'import "node:crypto"'],
  ["refused", "packages/core/src/conversation/checked", 'import "../tree/path.ts"'],
  ["refused", "packages/core/src/conversation/shown", 'import "../tree/path.ts"'],
  ["refused", "packages/core/src/conversation/shown", 'import "zod"'],
  ["refused", "packages/core/src/conversation/forms", 'import "../tree/path.ts"'],
  ["refused", "packages/core/src/ports", 'import "../model/model-error.ts"'],
  ["refused", "packages/core/src/ports", 'import "../session/session.ts"'],
  ["refused", "packages/core/src/ports", 'import "../turn/turn.ts"'],
  ["refused", "packages/core/src/ports", 'import "node:fs"'],
  ["refused", "packages/core/src/ports", 'import "fs"'],
  ["refused", "packages/core/src/model", 'import "../ai-sdk/error.ts"'],
  ["refused", "packages/core/src/model", 'import "../toolbox/toolbox.ts"'],
  ["refused", "packages/core/src/model", 'import "node:fs"'],
  ["refused", "packages/core/src/ai-sdk", 'import "../agent/agent.ts"'],
  ["refused", "packages/core/src/ai-sdk", 'import "../step/step.ts"'],
  ["refused", "packages/core/src/past", 'import "../session/session.ts"'],
  ["refused", "packages/core/src/past", 'import "../model/alarm.ts"'],
  ["refused", "packages/core/src/session", 'import "../run/run.ts"'],
  ["refused", "packages/core/src/session", 'import "../turn/turn.ts"'],
  ["refused", "packages/core/src/session", 'import "../agent/agent.ts"'],
  ["refused", "packages/core/src/session", 'import "../index.ts"'],
  ["refused", "packages/core/src/toolbox", 'import "../session/session.ts"'],
  ["refused", "packages/core/src/toolbox", 'import "../run/run.ts"'],
  ["refused", "packages/core/src/run", 'import "../context/compaction.ts"'],
  ["refused", "packages/core/src/run", 'import "../ai-sdk/language-model.ts"'],
  ["refused", "packages/core/src/context", 'import "../calls/calls.ts"'],
  ["refused", "packages/core/src/context", 'import "../step/response-message.ts"'],
  ["refused", "packages/core/src/calls", 'import "../step/response-message.ts"'],
  ["refused", "packages/core/src/calls", 'import type { Turn } from "../turn/turn.ts"; export type T = Turn'],
  ["refused", "packages/core/src/step", 'import "../turn/launch.ts"'],
  ["refused", "packages/core/src/turn", 'import "../agent/agent.ts"'],
  ["refused", "packages/core/src/turn", 'import "../ai-sdk/language-model.ts"'],
  ["refused", "packages/core/src/turn", 'import "../testing/scripted-model.ts"'],
  ["refused", "packages/core/src/agent", 'import "../testing/scripted-model.ts"'],
  ["refused", "packages/core/src/agent", 'import "../index.ts"'],

  // A folder imports only folders below, as layers.json lists them.
  ["allowed", "packages/web/src/composer", 'import "../parts/page/page.ts"'],
  ["allowed", "packages/web/src/parts/page", 'import "../conversation/use-view.ts"'],
  ["refused", "packages/web/src/parts/page", 'import "../../composer/draft.ts"'],
  ["refused", "packages/web/src/transcript/markdown", 'import "../../panels/use-panel.ts"'],
  ["allowed", "packages/host/src/settings", 'import "@banyan/tools/mcp/entry"'],
  ["allowed", "packages/host/src/equipment", 'import "../settings/schema.ts"'],
  ["refused", "packages/host/src/settings", 'import "../equipment/equipment.ts"'],
  ["refused", "packages/host/src/settings", 'import "../index.ts"'],
  ["refused", "packages/host/src/settings", 'import "@banyan/desk"'],
  ["allowed", "packages/tools/src/sandbox", 'import "../workspace/files/named-path.ts"'],
  ["refused", "packages/tools/src/sandbox", 'import "../workspace/index.ts"'],
  ["refused", "packages/tools/src/workspace/files", 'import "../changes/edit.ts"'],
  ["allowed", "packages/server/src/doors/openai", 'import "../door.ts"'],
  ["refused", "packages/server/src/doors", 'import "./openai/door.ts"'],
  ["refused", "packages/server/src/doors/acp", 'import "../../http/app.ts"'],
  ["refused", "packages/desk/src/request", 'import type { Frame } from "../live/frame.ts"; export type F = Frame'],
  ["refused", "packages/client/src/link", 'import "../display/index.ts"'],

  // A promise without an `await` must handle its failure (F37).
  ["refused", "packages/server/src", "async function tell() {} tell()"],
  ["refused", "packages/server/src", "async function tell() {} void tell()"],
  ["refused", "packages/tools/src", "class Server { async #end() {} end() { void this.#end() } }"],
  ["refused", "packages/tools/src", "class Server { async #end() {} end() { this.#end() } }"],
  ["refused", "packages/core/src/session", "Promise.reject().then(() => {})"],
  ["allowed", "packages/server/src", "async function tell() {} tell().catch(() => {})"],
];

const testRows: typeof rows = [
  ["allowed", "packages/core/src/turn", 'import "../testing/scripted-model.ts"'],
  ["allowed", "packages/core/src/conversation", 'import "fast-check"'],
  ["refused", "packages/core/src/turn", 'import "@banyan/store/memory"'],
  ["refused", "packages/models/src", 'import "@banyan/host"'],
];

const cases = [...rows, ...testRows].map(([allowed, folder, source], index) => {
  const ending = index < rows.length ? "ts" : "test.ts";
  return { allowed, folder, source, ending, file: `${folder}/case-${index}.${ending}` };
});

const rules = /\/(noRestrictedImports|noRestrictedGlobals|noNodejsModules|noProcessGlobal|noVoid|noFloatingPromises)$/;
const refused = new Set<string>();

beforeAll(() => {
  const root = mkdtempSync(join(tmpdir(), "imports-"));
  const repository = fileURLToPath(new URL("..", import.meta.url));
  for (const name of ["biome.json", "biome.layers.json"]) copyFileSync(join(repository, name), join(root, name));
  for (const { file, source } of cases) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), `${source};\n`);
  }
  const biome = join(repository, "node_modules", "@biomejs", "biome", "bin", "biome");
  const args = [biome, "lint", "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=json", "."];
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] };
  for (const { category, location } of diagnostics) {
    if (rules.test(category)) refused.add(location.path.replaceAll("\\", "/"));
  }
});

test.each(cases)("$allowed in $folder (*.$ending): $source", ({ allowed, file }) => {
  expect(refused.has(file) ? "refused" : "allowed").toBe(allowed);
});
