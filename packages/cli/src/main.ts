#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import manifest from "../package.json" with { type: "json" };

// Read it first: the parent may end before the modules are loaded.
const starter = process.ppid;

// Scripts often ask for the version: answer before loading the parser.
const words = process.argv.slice(2);
if (words.length === 1 && /^(--version|-V)$/.test(words[0] ?? "")) process.stdout.write(`${manifest.version}\n`);
else await main(words);

async function main(argv: readonly string[]): Promise<void> {
  const { directories } = await import("@banyan/host/directories");
  // The cache contains code that will run, so only the user may write to its folder.
  enableCompileCache(directories(process.env, homedir()).cache);
  // Usually there are no arguments: skip the parser, which takes 20 ms to load.
  if (argv.length === 0) return (await import("./run.ts")).runBanyan();
  const { COMMANDS, carryOut, isPerhapsMisspelt, readArguments } = await import("./arguments.ts");

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
    case "run": {
      if (isPerhapsMisspelt(argv)) {
        const { misspeltCommand, reportMistake } = await import("./print/report-mistake.ts");
        const message = misspeltCommand(argv[0] ?? "", COMMANDS);
        if (message !== undefined) return reportMistake({ message, output: wanted.arguments.output });
      }
      const { runBanyan } = await import("./run.ts");
      await runBanyan(wanted.arguments);
      break;
    }
    default:
      process.exit(await carryOut(wanted, starter));
  }
}
