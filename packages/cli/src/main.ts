#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import manifest from "../package.json" with { type: "json" };

// Read it first: the parent may end before the modules are loaded.
const starter = process.ppid;

// Scripts often ask for the version: answer before loading the parser.
const words = process.argv.slice(2);
if (words.length === 1 && /^(--version|-V)$/.test(words[0] ?? "")) process.stdout.write(`${manifest.version}\n`);
else await carryOut(words);

async function carryOut(argv: readonly string[]): Promise<void> {
  const { directories } = await import("@banyan/host/directories");
  // Caches compiled modules. The cache contains code that will run, so only the user may write to its folder.
  enableCompileCache(directories(process.env, homedir()).cache);
  // Usually there are no arguments: skip the parser, which takes 20 ms to load.
  if (argv.length === 0) return (await import("./run.ts")).run();
  const { isPerhapsMisspelt, readArguments } = await import("./arguments.ts");

  // Help and version need nothing else, so the agent's modules are loaded later.
  const wanted = readArguments(argv);
  switch (wanted.type) {
    case "text":
      process.stdout.write(wanted.text);
      break;
    case "mistake": {
      const { reportMistake } = await import("./print/report-mistake.ts");
      await reportMistake(wanted);
      break;
    }
    case "models": {
      const { models } = await import("./models/models.ts");
      process.exit(await models(wanted.arguments));
      break;
    }
    case "conversations": {
      const { conversations } = await import("./conversations/conversations.ts");
      process.exit(await conversations(wanted.arguments));
      break;
    }
    case "config": {
      const { config } = await import("./config/config.ts");
      process.exit(await config(wanted.arguments));
      break;
    }
    case "mcp": {
      const { mcp } = await import("./mcp/mcp.ts");
      process.exit(await mcp(wanted.arguments));
      break;
    }
    case "changes": {
      const { changes } = await import("./changes/changes.ts");
      process.exit(await changes(wanted.arguments));
      break;
    }
    case "worktrees": {
      const { worktrees } = await import("./worktrees/worktrees.ts");
      process.exit(await worktrees(wanted.arguments));
      break;
    }
    case "memory": {
      const { memory } = await import("./memory/memory.ts");
      process.exit(await memory(wanted.arguments));
      break;
    }
    case "attach": {
      const { attach } = await import("./run.ts");
      process.exit(await attach(wanted.arguments));
      break;
    }
    case "serve": {
      const { serve } = await import("./serve/serve.ts");
      process.exit(await serve(wanted.arguments));
      break;
    }
    case "acp": {
      const { acp } = await import("./acp/acp.ts");
      process.exit(await acp(wanted.arguments, starter));
      break;
    }
    case "nodes": {
      const { nodes } = await import("./nodes/nodes.ts");
      process.exit(await nodes(wanted.arguments));
      break;
    }
    case "eval": {
      const { evaluateFile } = await import("./eval/eval.ts");
      process.exit(await evaluateFile(wanted.arguments));
      break;
    }
    case "run": {
      if (isPerhapsMisspelt(argv)) {
        const { misspeltCommand, reportMistake } = await import("./print/report-mistake.ts");
        const message = misspeltCommand(argv[0] ?? "");
        if (message !== undefined) return reportMistake({ message, output: wanted.arguments.output });
      }
      const { run } = await import("./run.ts");
      await run(wanted.arguments);
      break;
    }
  }
}
