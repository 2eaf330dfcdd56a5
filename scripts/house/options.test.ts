import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { acpAgent } from "@banyan/acp";
import { Agent, defineTool, handOff, launchAgent, RateLimit, Session, say } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { refuseUnknown } from "@banyan/core/conversation";
import { askModel } from "@banyan/core/hosts";
import { scriptedModel } from "@banyan/core/testing";
import { Desk } from "@banyan/desk";
import * as host from "@banyan/host";
import { evaluate, openEvaluation } from "@banyan/host/evaluation";
import { serversForFirstTurn } from "@banyan/host/mcp";
import { sqliteMemory } from "@banyan/memory";
import * as models from "@banyan/models";
import { RestateDriver } from "@banyan/restate";
import { agUiEvents, handler, serve } from "@banyan/server";
import { serveAcp } from "@banyan/server/acp";
import { postgresStore, redrive, Takeover } from "@banyan/store/postgres";
import { sqliteStore } from "@banyan/store/sqlite";
import { Telemetry } from "@banyan/telemetry";
import { openOtlp } from "@banyan/telemetry/otlp";
import { Formatters } from "@banyan/tools/formatters";
import { LanguageServers, symbolTools } from "@banyan/tools/language-servers";
import { McpServers, openMcpServers } from "@banyan/tools/mcp";
import { NetworkAccess, openSandbox } from "@banyan/tools/sandbox";
import * as web from "@banyan/tools/web";
import * as workspace from "@banyan/tools/workspace";
import { describe, expect, test } from "vitest";
import { optionsTaken } from "./options-taken.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const wrong = (value: unknown) => value as never;
const nothing = wrong({});
const model = scriptedModel(() => "Hello.");
const agent = new Agent({ model });
const session = Session.inMemory();
const folder = workspace.openWorkspace(root);

const calls: Readonly<Record<string, (options: never) => unknown>> = {
  "acp acpAgent": (options) => acpAgent(options),
  "core Agent.constructor": (options) => new Agent(options),
  "core Agent.with": (options) => agent.with(options),
  "core Agent.chat": (options) => agent.chat(say("Hello"), options),
  "core Agent.send": (options) => agent.send("Hello", options),
  "core Agent.answer": (options) => agent.answer("a question", { decision: "allow" }, options),
  "core Agent.asTool": (options) => agent.with({ name: "x", description: "y" }).asTool(options),
  "core Agent.countTokens": (options) => agent.countTokens("Hello", options),
  "core Agent.compact": (options) => agent.compact(options),
  "core AgentBuilder.settings": (settings) => Agent.builder().model(model).settings(settings).build(),
  "core AgentBuilder.limits": (limits) => Agent.builder().model(model).limits(limits).build(),
  "core AgentBuilder.bounds": (bounds) => Agent.builder().model(model).bounds(bounds).build(),
  "core AgentBuilder.retry": (retry) => Agent.builder().model(model).retry(retry).build(),
  "core AgentBuilder.compaction": (compaction) => Agent.builder().model(model).compaction(compaction).build(),
  "core AgentBuilder.memory": (memory) => Agent.builder().model(model).memory(memory).build(),
  "core AgentBuilder.hooks": (hooks) => Agent.builder().model(model).hooks(hooks).build(),
  "core AgentBuilder.callbacks": (callbacks) => Agent.builder().model(model).callbacks(callbacks).build(),
  "core handOff": (options) => handOff(agent.with({ name: "x", description: "y" }), options),
  "core launchAgent": (options) => launchAgent(options),
  "core defineTool": (tool) => defineTool(tool),
  "core RateLimit.constructor": (options) => new RateLimit(options),
  "core Session.open": (options) => Session.open(nothing, undefined, options),
  "core Session.inMemory": (options) => Session.inMemory(options),
  "core Session.feed": (options) => session.feed(options),
  "core Session.say": (options) => session.say("Hello", options),
  "core Session.add": (options) => session.add("Hello", options),
  "core Session.addHistory": (options) => session.addHistory([{ role: "user", content: "Hello" }], options),
  "core Session.toMessages": (options) => session.toMessages("anthropic", options),
  "core fromLanguageModel": (options) => fromLanguageModel(languageModel, options),
  "core askModel": (options) => askModel(model, nothing, options),
  "host attachNamedFiles": (options) => host.attachNamedFiles("", options),
  "host openHost": (options) => host.openHost(options),
  "host permissions": (options) => host.permissions(options),
  "host checkConfiguration": (options) => host.checkConfiguration(options),
  "host proveRules": (options) => host.proveRules(options, root),
  "host unknownNamesIn": (options) => host.unknownNamesIn(options, root),
  "host readConfiguration": (options) => host.readConfiguration(options),
  "host searchForUsers": (options) => host.searchForUsers(nothing, "", options),
  "host fan": (options) => host.fan(session, [], options),
  "host Worktrees.constructor": (options) => new host.Worktrees(options),
  "host evaluate": (options) => evaluate(options),
  "host workspaceGoal": (options) => host.workspaceGoal(options),
  "host openEvaluation": (options) => openEvaluation(options),
  "host serversForFirstTurn": (options) => serversForFirstTurn(nothing, options),
  "memory sqliteMemory": (options) => sqliteMemory(options),
  "models anthropicMessages": (options) => models.anthropicMessages(options),
  "models chooseModel": (options) => models.chooseModel(options),
  "models embeddingModel": (options) => models.embeddingModel("openai/text-embedding-3-small", options),
  "models listModels": (options) => models.listModels("demo", options),
  "models listProviders": (options) => models.listProviders(options),
  "models openAIChat": (options) => models.openAIChat(options),
  "models openAIResponses": (options) => models.openAIResponses(options),
  "models resolveModel": (options) => models.resolveModel("demo/offline", options),
  "restate RestateDriver.constructor": (options) => new RestateDriver(nothing, options),
  "desk Desk.constructor": (options) => new Desk(options),
  "server agUiEvents": (options) => agUiEvents(nothing, nothing, options),
  "server handler": (options) => handler(nothing, options),
  "server serve": (options) => serve(options),
  "server serveAcp": (options) => serveAcp(nothing, options),
  "store sqliteStore": (options) => sqliteStore(options),
  "store postgresStore": (options) => postgresStore("postgres://127.0.0.1/none", options),
  "store redrive": (options) => redrive(nothing, options),
  "store Takeover.constructor": (options) => new Takeover(options),
  "telemetry Telemetry.constructor": (options) => new Telemetry(options),
  "telemetry openOtlp": (options) => openOtlp(options),
  "tools Formatters.constructor": (options) => new Formatters(options),
  "tools LanguageServers.constructor": (options) => new LanguageServers(options),
  "tools NetworkAccess.constructor": (options) => new NetworkAccess(options),
  "tools McpServers.constructor": (options) => new McpServers(options),
  "tools openMcpServers": (options) => openMcpServers(options),
  "tools openSandbox": (options) => openSandbox(options),
  "tools symbolTools": (options) => symbolTools(nothing, nothing, options),
  "tools fetchTool": (options) => web.fetchTool(options),
  "tools readPage": (options) => web.readPage("https://example.com", options),
  "tools readWebPicture": (options) => web.readWebPicture("https://example.com", options),
  "tools WorkspaceSnapshots.constructor": (options) => new workspace.WorkspaceSnapshots(folder, options),
  "tools WebPictures.read": (options) => new web.WebPictures().read("https://example.com", options),
  "tools braveSearch": (options) => web.braveSearch(options),
  "tools tavilySearch": (options) => web.tavilySearch(options),
  "tools searxngSearch": (options) => web.searxngSearch(options),
  "tools searchProvider": (options) => web.searchProvider(options, {}),
  "tools webTools": (options) => web.webTools(options),
  "tools bringOver": (options) => workspace.bringOver(folder, options, nothing, nothing),
  "tools bringTool": (options) => workspace.bringTool(folder, options),
  "tools editTool": (options) => workspace.editTool(folder, options),
  "tools editModeTool": (options) => workspace.editModeTool(folder, options),
  "tools pruneBackups": (options) => workspace.pruneBackups("none", options),
  "tools readTool": (options) => workspace.readTool(folder, options),
  "tools runInWorkspace": (options) => workspace.runInWorkspace(folder, "true", options),
  "tools searchTool": (options) => workspace.searchTool(folder, options),
  "tools shellTool": (options) => workspace.shellTool(folder, options),
  "tools workspaceTools": (options) => workspace.workspaceTools(options),
  "tools writeTool": (options) => workspace.writeTool(folder, options),
};

const languageModel = wrong({ specificationVersion: "v4", provider: "test", modelId: "one", doStream: () => {} });

describe("F76: every options object refuses a name that it does not know", () => {
  test("the calls below are all that take options, in every entry of every package", () => {
    const taken = readdirSync(join(root, "packages")).flatMap((name) =>
      optionsTaken(join(root, "packages", name), name),
    );
    expect(taken.length).toBeGreaterThan(70);
    expect(taken.toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  test.each(Object.entries(calls))("%s", async (_, call) => {
    const sentence = await refusal(() => call(wrong({ qqqqqqqqqqqqqqqq: 1 })));
    const [, names = ""] = /^\S+ is no option of [^;]+; the options are (.+)\.$/.exec(sentence) ?? [];
    expect(names, sentence).not.toBe("");
    for (const name of names.split(", ")) {
      const misspelt =
        name.length > 3 ? `${name.slice(0, 1)}${name[2]}${name[1]}${name.slice(3)}` : `${name}${name.at(-1)}`;
      if (names.split(", ").includes(misspelt) || misspelt === name) continue;
      expect(await refusal(() => call(wrong({ [misspelt]: undefined })))).toMatch(
        new RegExp(`^(\\w+\\.)?${misspelt} is no option of .*did you mean .*\\b${name}\\b.*\\?$`),
      );
    }
  });

  test.each<[string, () => unknown, string]>([
    [
      "of flags",
      () => host.openHost(wrong({ cwd: root, flags: { alow: [] } })),
      "flags.alow is no option of openHost; did you mean flags.allow?",
    ],
    [
      "of rules",
      () => host.permissions(wrong({ workspace: root, rules: { denny: [] } })),
      "rules.denny is no option of permissions; did you mean rules.deny?",
    ],
    [
      "of a named agent",
      () => launchAgent(wrong({ agents: [{ nmae: "x" }] })),
      "agents[0].nmae is no option of launchAgent; did you mean agents[0].name?",
    ],
    [
      "of a way to reconnect",
      () => openMcpServers(wrong({ servers: {}, reconnect: { delya: 1 } })),
      "reconnect.delya is no option of MCP servers; did you mean reconnect.delay?",
    ],
    [
      "that is no object",
      () => sqliteStore(wrong("folder")),
      "The options of sqliteStore must be an object, not a string.",
    ],
    ["that is null", () => sqliteStore(wrong(null)), "The options of sqliteStore must be an object, not null."],
    [
      "within options that is no object",
      () => refuseUnknown("a test", wrong(3), {}, "limits."),
      "limits of a test must be an object, not a number.",
    ],
  ])("an option %s", async (_, call, sentence) => {
    expect(await refusal(call)).toBe(sentence);
  });
});

async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toMatchObject({ name: "OptionError", code: "invalid-option" });
    return (error as Error).message;
  }
  return "nothing was refused";
}
