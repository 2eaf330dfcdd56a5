// S34: a rule or matcher in the notation of Banyan, Claude Code or codex is either refused or matches something.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tool } from "../../../packages/core/src/index.ts";
import { emptyConversation, launchAgent } from "../../../packages/core/src/index.ts";
import { type Host, openHost } from "../../../packages/host/src/index.ts";
import { randomFrom } from "../../../packages/host/src/mcp/odd-names.fixture.ts";
import { webTools } from "../../../packages/tools/src/web/index.ts";
import { workspaceTools } from "../../../packages/tools/src/workspace/index.ts";
import type { Attack, Place } from "../attack.ts";
import { type Called, type Sample, sampleOf } from "../rule-samples.ts";

const ROUNDS = 500;

const offered = (server: string, tool: string): Tool => ({
  name: `mcp_${server}_${tool}`,
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: () => "",
  offeredBy: server,
  offeredAs: tool,
  about: (input) => {
    const { path } = input as { readonly path?: string };
    return path === undefined ? {} : { paths: [{ path, access: "write" }] };
  },
});

export class RuleJudge {
  readonly #home: string;
  readonly #cwd: string;
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor({ home, folder }: Pick<Place, "home" | "folder">) {
    this.#home = home;
    this.#cwd = folder;
    const own = [
      ...workspaceTools({ root: folder }),
      ...webTools(),
      launchAgent({ agents: [{ name: "reviewer", description: "", instructions: "" }] }),
    ];
    this.#tools = new Map([
      ...own.map((tool) => [tool.name, tool] as const),
      ...["g/read_only", "g/look", "h/read_only"].map(
        (name) => [name, offered(...(name.split("/") as [string, string]))] as const,
      ),
    ]);
    mkdirSync(join(folder, ".git"), { recursive: true });
  }

  async judge(sample: Sample, where: "user" | "project" | "flags" | "claude"): Promise<string | undefined> {
    const said = `${sample.kind} ${JSON.stringify(sample.text)} (${where})`;
    switch (sample.kind) {
      case "rule":
        for (const list of ["deny", "ask"] as const) {
          const host = await this.#open(where, list, sample.text);
          const wrong = await this.#wrong(
            host,
            sample,
            (decision) => decision === list || (list === "ask" && decision === "deny"),
          );
          await host.close();
          if (wrong !== undefined) return `${said} as ${list}: ${wrong}`;
        }
        return undefined;
      case "allow": {
        // A project cannot allow a whole tool, and Claude Code's allow rules are not read.
        const host = await this.#open("user", "allow", sample.text);
        const wrong = await this.#wrong(host, sample, (decision) => decision === "allow");
        await host.close();
        return wrong && `${said}: ${wrong}`;
      }
      case "matcher": {
        const host = await this.#open(where === "flags" ? "user" : where, "matcher", sample.text);
        const wrong = await this.#wrong(host, sample, (decision) => decision === "deny", true);
        await host.close();
        return wrong && `${said}: ${wrong}`;
      }
      case "faulty":
      case "absent": {
        const place = sample.list === "matcher" && where === "flags" ? "user" : where;
        const { list } = sample;
        // Claude Code's allow rules are not read, and no flag sets an ask rule.
        if ((place === "claude" && list === "allow") || (place === "flags" && list === "ask")) return undefined;
        let host: Host;
        try {
          host = await this.#open(place, list, sample.text);
        } catch (error) {
          if (sample.kind === "absent" || place === "project" || place === "claude")
            return `${said} stopped the start: ${error}`;
          return String(error).includes(sample.text)
            ? undefined
            : `${said} stopped the start without its name: ${error}`;
        }
        const isTold = host.notices.some((notice) => notice.includes(sample.text));
        const guards =
          place === "project" || place === "claude"
            ? await this.#decide(host, ["shell", { command: "guarded x" }])
            : "deny";
        await host.close();
        if (sample.kind === "faulty" && (place === "user" || place === "flags"))
          return `${said} did not stop the start`;
        if (!isTold) return `${said} is not told: ${host.notices.join(" ")}`;
        return guards === "deny" ? undefined : `${said} took another rule of its file along`;
      }
    }
  }

  async #wrong(
    host: Host,
    { hits, misses }: { readonly hits: readonly Called[]; readonly misses: readonly Called[] },
    isHit: (decision: string) => boolean,
    byHook = false,
  ): Promise<string | undefined> {
    for (const call of hits) {
      const decision = await this.#decide(host, call, byHook);
      if (!isHit(decision)) return `it does not match ${JSON.stringify(call)}: ${decision}`;
    }
    for (const call of misses) {
      const decision = await this.#decide(host, call, byHook);
      if (isHit(decision)) return `it matches ${JSON.stringify(call)}: ${decision}`;
    }
    return undefined;
  }

  /** Returns the decision about a call. `byRule` distinguishes the questions of a rule from those of the mode. */
  async #decide(host: Host, [name, input]: Called, byHook = false): Promise<string> {
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    const { signal } = new AbortController();
    const request = { call: "call", run: "run", tool, input, conversation: emptyConversation(), allowed: [], signal };
    if (byHook) return (await host.hooks.calls.beforeCall?.(request))?.decision ?? "none";
    const permit = await host.agent.options.permission?.(request);
    if (permit?.decision !== "ask") return permit?.decision ?? "none";
    return permit.byRule ? "ask" : "asks of itself";
  }

  #open(
    where: "user" | "project" | "flags" | "claude",
    list: "deny" | "ask" | "allow" | "matcher",
    text: string,
  ): Promise<Host> {
    const own = join(this.#home, "own/config/settings.json");
    const files = {
      user: own,
      flags: own,
      project: join(this.#cwd, ".banyan/settings.json"),
      claude: join(this.#cwd, ".claude/settings.json"),
    };
    for (const file of Object.values(files)) this.#put(file, {});
    const guard = where === "project" || where === "claude" ? ["shell(guarded *)"] : [];
    const rules = { deny: guard, ...(list !== "matcher" && { [list]: [...(list === "deny" ? guard : []), text] }) };
    const hooks = { PreToolUse: [{ matcher: text, hooks: [{ type: "command", command: "exit 2" }] }] };
    const isFlag = where === "flags" && (list === "deny" || list === "allow");
    if (!isFlag)
      this.#put(files[where], list === "matcher" ? { hooks, permissions: { deny: guard } } : { permissions: rules });
    return openHost({
      cwd: this.#cwd,
      home: this.#home,
      canAsk: true,
      trusted: true,
      readyLater: true,
      env: { PATH: process.env.PATH, BANYAN_HOME: join(this.#home, "own"), BANYAN_NO_DISCOVERY: "1" },
      flags: { model: "demo/offline", ...(isFlag && { [list]: [text] }) },
    });
  }

  #put(file: string, content: object): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(content));
  }
}

export const attacks: readonly Attack[] = [
  {
    rule: "S34",
    name: `${ROUNDS} rules and matchers of three programs`,
    seconds: 900,
    async attempt(place) {
      const judge = new RuleJudge(place);
      const random = randomFrom(34);
      for (let round = 0; round < ROUNDS; round++) {
        const where = (["user", "project", "flags", "claude"] as const)[round % 4] ?? "user";
        const broken = await judge.judge(sampleOf(random, { home: place.home, cwd: place.folder }), where);
        if (broken !== undefined) return `${round}: ${broken}`;
      }
      return undefined;
    },
  },
];
