#!/usr/bin/env node
import { readArguments } from "./arguments.ts";

// Help and version need nothing else: what runs an agent is loaded only when one is wanted.
const wanted = readArguments(process.argv.slice(2));
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
  case "run": {
    const { run } = await import("./run.ts");
    await run(wanted.arguments);
    break;
  }
}
