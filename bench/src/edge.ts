import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ApprovalMode } from "@banyan/host";
import { attempts, fixProject, make } from "./edge/attempts.ts";
import type { Questions } from "./edge/conversation.ts";
import { startServers } from "./edge/servers.ts";
import { faultOf, textInChromium } from "./edge/shown-text.ts";

// node bench/src/edge.ts [--approval ask] [--host 127.0.0.1] [name ...]: programs at the edge of the sandbox, with servers
// of our own on an address of this machine.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { approval: { type: "string", default: "ask" }, host: { type: "string", default: "127.0.0.1" } },
});
const approval = values.approval as ApprovalMode;
const isMeant = (name: string) => positionals.length === 0 || positionals.includes(name);

const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-servers-")));
try {
  await using servers = await startServers(root, values.host);
  console.log("| command | result | questions | seconds |\n|---|---|---|---|");
  for (const attempt of attempts.filter(({ name }) => isMeant(name))) {
    const outcome = await make(attempt, servers, approval);
    if (typeof outcome === "string") console.log(`| ${attempt.shown} | not tried: ${outcome} | | |`);
    else {
      const { works, questions, seconds, output } = outcome;
      row(attempt.shown, works, questions, seconds);
      if (!works) console.error(`${attempt.name}:\n${output}\n`);
    }
  }
  if (isMeant("fix")) {
    const fix = await fixProject(servers, approval, textInChromium);
    const fault = faultOf(fix);
    row(
      "A fix with a new dependency, then Vite, `fetch` and Chromium",
      fault === undefined,
      fix.questions,
      fix.seconds,
    );
    if (fault !== undefined) console.error(fault);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

function row(command: string, works: boolean, questions: Questions, seconds: number): void {
  if (!works) process.exitCode = 1;
  const asked = Object.entries(questions).flatMap(([subject, count]) => (count > 0 ? [`${subject} ${count}`] : []));
  console.log(`| ${command} | ${works ? "works" : "fails"} | ${asked.join(", ")} | ${seconds.toFixed(1)} |`);
}
