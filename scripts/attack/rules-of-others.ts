// S34: no rule or matcher in the notation of Banyan, Claude Code or codex is accepted and then matches nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json, Tool } from "../../packages/core/src/index.ts";
import { emptyConversation, launchAgent } from "../../packages/core/src/index.ts";
import { type Host, openHost } from "../../packages/host/src/index.ts";
import { randomFrom } from "../../packages/host/src/mcp/odd-names.fixture.ts";
import { webTools } from "../../packages/tools/src/web/index.ts";
import { workspaceTools } from "../../packages/tools/src/workspace/index.ts";
import type { Attack, Place } from "./attack.ts";

/** A call by the name of its tool. */
type Called = readonly [tool: string, input: Json];

/** A rule or a matcher, and what must become of it. The calls are written here, and not asked of the program. */
export type Sample =
  | {
      readonly kind: "rule";
      readonly text: string;
      readonly hits: readonly Called[];
      readonly misses: readonly Called[];
    }
  | {
      readonly kind: "allow";
      readonly text: string;
      readonly hits: readonly Called[];
      readonly misses: readonly Called[];
    }
  | {
      readonly kind: "matcher";
      readonly text: string;
      readonly hits: readonly Called[];
      readonly misses: readonly Called[];
    }
  | { readonly kind: "faulty"; readonly list: "deny" | "ask" | "allow" | "matcher"; readonly text: string }
  | { readonly kind: "absent"; readonly list: "deny" | "ask" | "allow" | "matcher"; readonly text: string };

const ROUNDS = 500;

/** A sample of the grammar, at random. */
export function sampleOf(random: () => number, { home, cwd }: { readonly home: string; readonly cwd: string }): Sample {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const shell = (command: string): Called => ["shell", { command }];
  const read = (path: string): Called => ["read", { path }];
  const edit = (path: string): Called => ["edit", { path, old_text: "a", new_text: "b" }];
  const write = (path: string): Called => ["write", { path, content: "x" }];
  const fetch = (url: string): Called => ["fetch", { url }];
  const commands = () => {
    const words = pick(["rm", "touch", "git push", "npm publish", "docker run", "curl -X POST"]);
    const name = pick(["Bash", "Bash", "shell", "exec_command", "local_shell", "shell_command", "unified_exec"]);
    const [pattern, bare] = pick([
      [`${words} *`, true],
      [`${words}:*`, true],
      [words, false],
    ] as const);
    return { text: `${name}(${pattern})`, words, rest: bare ? `${words} zz` : words };
  };
  const word = () => pick(["secret", "key", "plan", "a b", "Ä", "x-1"]);
  switch (
    pick([
      "command",
      "command",
      "path",
      "path",
      "address",
      "name",
      "mcp",
      "allow",
      "matcher",
      "matcher",
      "faulty",
      "faulty",
      "absent",
    ] as const)
  ) {
    case "command": {
      const { text, words, rest } = commands();
      const hits = [shell(rest), shell(`echo a && ${rest}`), shell(`cd src; ${rest}`), shell(`FOO=1 ${rest}`)];
      return {
        kind: "rule",
        text,
        hits,
        misses: [shell("echo fine"), shell(`printf ${words.slice(0, 1)}`), write("a.txt")],
      };
    }
    case "path": {
      const [folder, name] = [word(), `${word()}.env`];
      const inner = `${folder}/${name}`;
      const reading = pick<readonly [string, Called[], Called[]]>([
        [`./${name}`, [read(name)], []],
        [name, [read(name), read(`deep/er/${name}`)], []],
        [`**/${name}`, [read(name), read(`deep/${name}`)], []],
        [`/${inner}`, [read(inner)], [read(`z/${inner}`)]],
        [`/${cwd}/${inner}`, [read(inner), read(join(cwd, inner))], []],
        [`~/${inner}`, [read(join(home, inner))], [read(inner)]],
        [`${folder}/**`, [read(inner)], [read(`z${folder}/x.txt`)]],
        [folder, [read(inner), read(`deep/${inner}`)], []],
        [`${folder}/`, [read(inner)], []],
        ["*.env", [read(name), read(`deep/${name}`)], []],
      ]);
      const isEdit = random() < 0.5;
      const tool = isEdit ? pick(["Edit", "MultiEdit", "apply_patch"]) : pick(["Read", "read_file", "view_image"]);
      const asEdit = (call: Called) => {
        const { path } = call[1] as { path: string };
        return isEdit ? [edit(path), write(path)] : [call];
      };
      const misses = [...reading[2], read("other.md")].flatMap(asEdit);
      return { kind: "rule", text: `${tool}(${reading[0]})`, hits: reading[1].flatMap(asEdit), misses };
    }
    case "address": {
      const host = pick(["example.com", "docs.example.com", "a.example.org"]);
      const [pattern, hits] = pick<readonly [string, Called[]]>([
        [
          `WebFetch(domain:${host})`,
          [fetch(`https://${host}/a?b=c`), fetch(`http://${host}:8080/`), fetch(`https://${host.toUpperCase()}./x`)],
        ],
        [`WebFetch(domain:*.${host})`, [fetch(`https://sub.${host}/`)]],
        [`fetch(${host})`, [fetch(`https://${host}/a`)]],
        [`fetch(domain:${host})`, [fetch(`https://${host}:444/a`)]],
      ]);
      return {
        kind: "rule",
        text: pattern,
        hits,
        misses: [fetch("https://example.net/"), fetch(`https://example.net/${host}`)],
      };
    }
    case "name": {
      const [text, hits] = pick<readonly [string, Called]>([
        ["Bash", shell("ls")],
        ["shell", shell("ls")],
        ["Bash(*)", shell("ls; ls")],
        ["Read", read("a")],
        ["Edit", edit("a")],
        ["Write", write("a")],
        ["apply_patch", edit("a")],
        ["Glob", ["list", { path: "." }]],
        ["LS", ["list", { path: "." }]],
        ["Grep", ["search", { pattern: "a" }]],
        ["grep_files", ["search", { pattern: "a" }]],
        ["WebFetch", fetch("https://example.com")],
        ["Task", ["launch_agent", { task: "t", expected_output: "o" }]],
        ["Agent(reviewer)", ["launch_agent", { task: "t", expected_output: "o", agent: "reviewer" }]],
        ["spawn_agent", ["launch_agent", { task: "t", expected_output: "o" }]],
      ]);
      const misses: Called[] = [
        ...(hits[0] === "launch_agent"
          ? [shell("ls")]
          : [["launch_agent", { task: "u", expected_output: "p", agent: "other" }] as const]),
      ];
      return { kind: "rule", text, hits: [hits], misses };
    }
    case "mcp": {
      const text = pick(["mcp__g__read_only", "mcp__g__read_*", "mcp_g_read_only", "mcp__g__read_only(src/**)"]);
      const all = pick(["mcp__g", "mcp__g__*", "mcp_g_*"]);
      const isAll = random() < 0.4;
      const hits: Called[] = [["g/read_only", { path: "src/a" }], ...(isAll ? [["g/look", {}] as const] : [])];
      return {
        kind: "rule",
        text: isAll ? all : text,
        hits,
        misses: [["h/read_only", { path: "src/a" }], ...(isAll ? [] : [["g/look", {}] as const])],
      };
    }
    case "allow": {
      if (random() < 0.5) {
        const { text, rest } = commands();
        return {
          kind: "allow",
          text,
          hits: [shell(rest)],
          misses: [shell(`${rest} > out.txt`), shell(`${rest}; other`), shell(`${rest} $(other)`), shell("other")],
        };
      }
      const folder = word();
      const [text, hits, misses] = pick<readonly [string, Called[], Called[]]>([
        [
          `Edit(${folder}/**)`,
          [edit(`${folder}/a.ts`), write(`${folder}/a.ts`)],
          [edit("lib/a.ts"), edit(`z/${folder}/a.ts`), shell("other")],
        ],
        [`Edit(/${folder}/**)`, [edit(`${folder}/a.ts`)], [edit(`/${folder}/a.ts`), edit("lib/a.ts")]],
        [`Write(./${folder}/a.ts)`, [write(`${folder}/a.ts`)], [write(`${folder}/b.ts`), edit(`${folder}/a.ts`)]],
        ["Edit", [edit("a")], [write("a"), shell("other")]],
        [
          "WebFetch(domain:example.com)",
          [fetch("https://example.com/a")],
          [fetch("https://example.com.example.net/"), fetch("https://x.example.com/"), fetch("ftp://example.com/")],
        ],
        [
          "mcp__g__read_only",
          [["g/read_only", {}]],
          [
            ["g/look", {}],
            ["h/read_only", {}],
          ],
        ],
        [
          "mcp__g",
          [
            ["g/read_only", {}],
            ["g/look", {}],
          ],
          [["h/read_only", {}]],
        ],
      ]);
      return { kind: "allow", text, hits, misses };
    }
    case "matcher": {
      const [text, hits, misses] = pick<readonly [string, Called[], Called[]]>([
        ["Bash", [shell("ls")], [edit("a")]],
        ["shell|edit", [shell("ls"), edit("a")], [read("a")]],
        ["Edit|MultiEdit|Write", [edit("a"), write("a")], [shell("ls")]],
        ["Edit, Write", [edit("a"), write("a")], [shell("ls")]],
        ["Edit|NotebookEdit", [edit("a")], [shell("ls")]],
        ["^Bash$", [shell("ls")], [edit("a")]],
        ["apply_patch", [edit("a"), write("a")], [shell("ls")]],
        ["Bash|apply_patch", [shell("ls"), edit("a")], [read("a")]],
        ["exec_command", [shell("ls")], [edit("a")]],
        ["(Edit|Write)$", [edit("a"), write("a")], [shell("ls")]],
        ["Grep|Glob", [["search", { pattern: "a" }]], [shell("ls")]],
        ["Task", [["launch_agent", { task: "t", expected_output: "o" }]], [shell("ls")]],
        ["WebFetch", [fetch("https://example.com")], [shell("ls")]],
        [
          "mcp__g__read_only",
          [["g/read_only", {}]],
          [
            ["g/look", {}],
            ["h/read_only", {}],
          ],
        ],
        [
          "mcp__g",
          [
            ["g/read_only", {}],
            ["g/look", {}],
          ],
          [["h/read_only", {}]],
        ],
        ["mcp__g__.*", [["g/look", {}]], [["h/read_only", {}]]],
        [
          "mcp__.*__read_only",
          [
            ["g/read_only", {}],
            ["h/read_only", {}],
          ],
          [["g/look", {}]],
        ],
        [".*", [shell("ls"), ["g/look", {}]], []],
        ["*", [shell("ls"), ["g/look", {}]], []],
        ["Write|Edit|Bash(git commit:*)", [write("a"), edit("a")], [read("a")]],
      ]);
      return { kind: "matcher", text, hits, misses };
    }
    case "faulty": {
      if (random() < 0.4)
        return {
          kind: "faulty",
          list: "matcher",
          text: pick([
            "bash",
            "Bsh",
            "Edti|Wirte",
            "^bash$",
            "(",
            "Bash(git commit:*)",
            "Bash(rm *)",
            "read file",
            "Notebok.*",
          ]),
        };
      const list = pick(["deny", "ask", "allow"] as const);
      const texts = [
        "bash(rm *)",
        "Bsh(rm *)",
        "Bash(rm *",
        "Bash()",
        "Bash(command:rm *)",
        "WebFetch(https://example.com/*)",
        "Read(file_path:.env)",
        "Unknown",
        "shel(rm *)",
        "Bash rm",
        "mcp__a*b__c",
        "Edit*",
        "!Bash",
        "edits(src/**)",
        "(rm *)",
        "Read(!.env)",
        "",
        "Tasks",
        "web fetch(example.com)",
      ];
      return { kind: "faulty", list, text: pick(list === "allow" ? [...texts, "mcp__*", "mcp__gi*"] : texts) };
    }
    case "absent": {
      const list = pick(["deny", "ask", "allow", "matcher"] as const);
      return { kind: "absent", list, text: pick(["NotebookEdit", "PowerShell", "ExitPlanMode", "TaskOutput"]) };
    }
  }
}

const offered = (server: string, tool: string): Tool => ({
  ...{
    name: `mcp_${server}_${tool}`,
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => "",
  },
  ...{ offeredBy: server, offeredAs: tool },
  about: (input) => {
    const { path } = input as { readonly path?: string };
    return path === undefined ? {} : { paths: [{ path, access: "write" }] };
  },
});

/** Judges samples in a place of their own. */
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

  /** Answers what went wrong, or nothing. */
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
        // A project cannot allow a whole tool, and what Claude Code was allowed is not read.
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
        // What Claude Code allows is not read, and there is no flag that asks.
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

  /** What is decided about a call: `byRule` tells a question that a rule asks from one that the mode asks. */
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
      ...{ cwd: this.#cwd, home: this.#home, canAsk: true, trusted: true, readyLater: true },
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
