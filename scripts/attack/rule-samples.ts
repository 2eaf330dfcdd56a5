// A grammar of rules and matchers of Banyan, Claude Code and codex, with calls that must match or must not match (S34).
import { join } from "node:path";
import type { Json } from "../../packages/core/src/index.ts";

export type Called = readonly [tool: string, input: Json];

/** A rule or matcher with the expected result. The calls are written by hand, not computed by the program. */
export type Sample =
  | {
      readonly kind: "rule" | "allow" | "matcher";
      readonly text: string;
      readonly hits: readonly Called[];
      readonly misses: readonly Called[];
    }
  | { readonly kind: "faulty"; readonly list: "deny" | "ask" | "allow" | "matcher"; readonly text: string }
  | { readonly kind: "absent"; readonly list: "deny" | "ask" | "allow" | "matcher"; readonly text: string };

/** Tool names of MCP servers, which allow rules and matchers read alike: matching calls, then other calls. */
const ofServers: readonly (readonly [string, Called[], Called[]])[] = [
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
];

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
        ...ofServers,
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
        ...ofServers,
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
