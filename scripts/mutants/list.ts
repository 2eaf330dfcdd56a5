import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutant.ts";

const core = "packages/core/src";
const store = "packages/store/src/sqlite";
const host = "packages/host/src";
const desk = "packages/desk/src";
const server = "packages/server/src";

const POWER_CUT = [`${core}/agent/power-cut.test.ts`];

/** Places where the engine requires durability (docs/durability.md). Each mutant removes the requirement. */
const FLUSHES = [
  ...["session/session", "session/inbox"],
  ...[
    "step/response-message",
    "step/step",
    "calls/calls",
    "calls/open-calls",
    "calls/tool-context",
    "context/compaction",
  ],
  ...["run/followers", "run/run", "turn/at-limit", "turn/launch", "turn/reported-loop", "turn/turn"],
].flatMap((name): Mutant[] => {
  const file = `${core}/${name}.ts`;
  const source = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
  const seen = new Map<string, number>();
  return [...source.matchAll(/durable: (?!false)[\w. |]*\w/g)].map(([line]) => {
    const nth = (seen.get(line) ?? 0) + 1;
    seen.set(line, nth);
    return { file, line, nth, instead: "durable: false", tests: POWER_CUT };
  });
});

/** Lines that each keep a promise, with a replacement that breaks it. */
const PROMISES: readonly Mutant[] = [
  // Calls (B24, S15, S17).
  {
    file: `${core}/calls/judge-again.ts`,
    line: 'if (started && effects === "external")',
    instead: "if (false)",
    tests: [`${core}/past/recovery.test.ts`],
  },
  {
    file: `${core}/calls/calls.ts`,
    line: 'if (answer.decision !== "allow") {\n      entry.phase = "ended";',
    instead: 'if (false) {\n      entry.phase = "ended";',
    tests: [`${core}/session/rights.test.ts`],
  },
  {
    file: `${core}/calls/calls.ts`,
    line: "if (!alone && !beside) break;",
    instead: "",
    tests: [`${core}/calls/calls.test.ts`],
  },
  {
    file: `${core}/calls/judge-again.ts`,
    line: "const isAllowed = run.session.isAllowed(call) && isWhatUserSaw(call, verdict.input, about);",
    instead: "const isAllowed = call.approved === true;",
    tests: [`${core}/session/rights.test.ts`],
  },
  {
    file: `${core}/past/end-of-waiting.ts`,
    line: ".filter(({ run }) => !session.runs.isLive(latestRun(state, run)))",
    instead: ".filter(() => false)",
    tests: POWER_CUT,
  },
  {
    file: `${core}/calls/judge.ts`,
    line: "if (seen && !isSameInput(input, call.input))",
    instead: "if (false)",
    tests: [`${core}/calls/judged-shown-run.test.ts`],
  },
  {
    file: `${core}/calls/judge.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the line as it stands there.
    line: 'return { ended: "denied", output: `Not allowed: ${permit.reason}` };',
    instead: 'return { tool, input, value, permit: { decision: "allow" } };',
    tests: [`${core}/calls/judge.test.ts`],
  },
  {
    file: `${core}/session/questions.ts`,
    line: "if (!waiting || !this.#waiting.delete(question)) throw notOpenError(question);",
    instead: "if (!waiting) throw notOpenError(question);",
    tests: [`${core}/calls/judge.test.ts`],
  },
  // Runs and branches (F25, B79).
  {
    file: `${core}/calls/open-calls.ts`,
    line: "if (run.session.runs.isLive(response.run)) return untilSettled(run, response);",
    instead: "",
    tests: [`${core}/agent/any-moment.test.ts`],
  },
  {
    file: `${core}/run/guard-messages.ts`,
    line: 'const steering = () => inputsFor(session.state, id).filter(({ delivery }) => delivery === "steer");',
    instead: "const steering = () => inputsFor(session.state, id);",
    tests: [`${core}/session/inbox.test.ts`],
  },
  {
    file: `${core}/turn/turn.ts`,
    line: "const inputs = stillWaiting(session.state, start.inputs);",
    instead: "const { inputs } = start;",
    tests: [`${core}/agent/several-chats.test.ts`],
  },
  // Long conversations (F86-F95).
  {
    file: `${core}/context/behind-summary.ts`,
    line: "if (fitted.tokens > left && !isFirst) break;",
    instead: "if (fitted.tokens > left && !isFirst) continue;",
    tests: [`${core}/context/behind-summary.test.ts`],
  },
  {
    file: `${core}/context/behind-summary.ts`,
    line: "cut = Math.max(cut * shrinking, LEAST);",
    instead: "",
    tests: [`${core}/context/behind-summary.test.ts`],
  },
  {
    file: `${core}/conversation/shown/kept-words.ts`,
    line: "!removed && shownOf.has(id)",
    instead: "shownOf.has(id)",
    tests: [`${core}/context/behind-summary.test.ts`],
  },
  {
    file: `${core}/context/behind-summary.ts`,
    line: "room * SHARES.state",
    instead: "room",
    tests: [`${core}/context/behind-summary.test.ts`],
  },
  {
    file: `${core}/past/state-block.ts`,
    line: 'if (!isChanged || first === last) return isRead && last !== null ? "read" : undefined;',
    instead: 'if (!isChanged) return isRead && last !== null ? "read" : undefined;',
    tests: [`${core}/past/state-block.test.ts`],
  },
  {
    file: `${core}/past/state-block.ts`,
    line: ".filter(({ outcome }) => outcome === undefined)",
    instead: "",
    tests: [`${core}/past/state-block.test.ts`],
  },
  {
    file: `${core}/context/old-results.ts`,
    line: "if (freed < needed || !(await isWorth(run, freed))) return false;",
    instead: "return false;",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/old-results.ts`,
    line: "if (index > 0 && (",
    instead: "if ((",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/summary-writer.ts`,
    line: 'const response = first.finish === "calls" ? await this.#ask({ messages, toolChoice: "none" }, size) : first;',
    instead: "const response = first;",
    tests: [`${core}/context/compaction.test.ts`],
  },
  {
    file: `${core}/context/summary-writer.ts`,
    line: "if (delay !== undefined) {",
    instead: "if (false) {",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/summary-writer.ts`,
    line: "return (await isWhole(best)) ? best.written : await this.#cut(best.written, size.bound);",
    instead: "return best.written;",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/summary-writer.ts`,
    line: "if (!isSummaryRefusal(error, sent, room)) throw error;",
    instead: "throw error;",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/background-summary.ts`,
    line: ".find(({ covers, messages }) => isEqual(branch.promptTo(covers), messages));",
    instead: ".find(() => true);",
    tests: [`${core}/context/background-summary.test.ts`],
  },
  {
    file: `${core}/context/background-summary.ts`,
    line: 'summary.cancelled.abort(new Error("the summary is not needed any more"));',
    instead: "",
    tests: [`${core}/context/background-summary.test.ts`],
  },
  {
    file: `${core}/context/overflow.ts`,
    line: "learnWindow(model, windowFromError(error, sent, before));",
    instead: "",
    tests: [`${core}/context/overflow.test.ts`],
  },
  {
    file: `${core}/context/overflow.ts`,
    line: 'return run.signal.aborted || isShorter ? "shorter" : "stuck";',
    instead: 'return "shorter";',
    tests: [`${core}/context/overflow.test.ts`],
  },
  {
    file: `${core}/context/compaction.ts`,
    line: "if (share < NEARLY_FULL && isSummaryUnderWay(run)) return false;",
    instead: "",
    tests: [`${core}/context/background-summary.test.ts`],
  },
  {
    file: `${core}/context/compaction.ts`,
    line: "if (!isManual && (await tokensFreedBy(run, text, covers)).tokens <= 0) throw new Error(TOO_LONG);",
    instead: "",
    tests: [`${core}/context/compaction.test.ts`],
  },
  {
    file: `${core}/context/summary-pieces.ts`,
    line: "userText(CONTINUED + behind)",
    instead: "userText(CONTINUED)",
    tests: [`${core}/context/summary-making.test.ts`],
  },
  {
    file: `${core}/context/cut-results.ts`,
    line: "if (size > share) return share;",
    instead: "",
    tests: [`${core}/turn/too-large.test.ts`],
  },
  {
    file: `${core}/turn/too-large.ts`,
    line: "if (bytes < contextSize) return undefined;",
    instead: "return undefined;",
    tests: [`${core}/turn/too-large.test.ts`],
  },
  {
    file: `${core}/context/background-summary.ts`,
    line: "if (!summary || !(waits || summary.isWritten)) return undefined;",
    instead: "if (!summary) return undefined;",
    tests: [`${core}/context/background-summary.test.ts`],
  },
  {
    file: `${core}/context/cut-results.ts`,
    line: "if (counted <= most || characters === LEAST) return text;",
    instead: "return text;",
    tests: [`${core}/context/overflow.test.ts`],
  },
  // The log (F1-F6, S17).
  {
    file: `${store}/log.ts`,
    line: "if (!writer.get(this.epoch)) throw this.#overtaken(database);",
    instead: "",
    tests: [`${store}/store.test.ts`],
  },
  {
    file: `${store}/log.ts`,
    line: "checkSequence(this.#conversation, this.#seq, events);",
    instead: "",
    tests: [`${store}/store.test.ts`],
  },
  {
    file: `${store}/log.ts`,
    line: "if (durable && !connection.isInPlace) throw fileGone(this.#opened.file.path);",
    instead: "",
    tests: [`${store}/mended.test.ts`],
  },
  {
    file: `${store}/store.ts`,
    line: "if (opened.seq === 0) rights.begin();",
    instead: "",
    tests: [`${store}/rights.test.ts`],
  },
  {
    file: "packages/store/src/log/row.ts",
    line: "if (crc !== checksum(seq, epoch, at, type, body)) return undefined;",
    instead: "",
    tests: [`${store}/damage.test.ts`],
  },
  // Permissions and secrets (S7, S14, S22).
  {
    file: `${host}/permissions/permissions.ts`,
    line: "if (denying !== undefined)",
    instead: "if (false)",
    tests: [`${host}/permissions/permissions.test.ts`],
  },
  {
    file: `${host}/permissions/permissions.ts`,
    line: "if (mustAsk || doubtful !== undefined) return askByRule(options.canAsk);",
    instead: "if (mustAsk) return askByRule(options.canAsk);",
    tests: [`${host}/permissions/permissions.test.ts`],
  },
  {
    file: `${host}/permissions/permissions.ts`,
    line: 'if (doubtful === undefined) return { decision: "allow" };',
    instead: 'return { decision: "allow" };',
    tests: [`${host}/permissions/shell/shell-subject.test.ts`],
  },
  {
    file: `${host}/permissions/permissions.ts`,
    line: "if (mustAsk || doubtful !== undefined) return askByRule(options.canAsk);",
    instead:
      "if (mustAsk || doubtful !== undefined) return askPermit(options.canAsk, subject.suggestion(rules.allow));",
    tests: [`${host}/permissions/permissions.test.ts`],
  },
  // The server (S2-S4, S20, S28, B59, F20).
  {
    file: `${server}/auth/gate.ts`,
    line: "if (host === undefined || !this.#hosts().has(host.toLowerCase())) return WRONG_HOST;",
    instead: "if (host === undefined) return WRONG_HOST;",
    tests: [`${server}/security.test.ts`],
  },
  {
    file: `${server}/auth/gate.ts`,
    line: "if (origin !== undefined && !isAllowed && !isOwnOrigin(origin, host)) return WRONG_ORIGIN;",
    instead: "",
    tests: [`${server}/security.test.ts`],
  },
  {
    file: `${server}/auth/gate.ts`,
    line: "return this.#pageOfToken(knock) ? COOKIE_ALONE : NO_TOKEN;",
    instead:
      "const signedIn = this.#pageOfToken(knock); return signedIn ? { ok: true, principal: signedIn.principal } : NO_TOKEN;",
    tests: [`${server}/security.test.ts`, `${server}/signed-in-pages.test.ts`],
  },
  {
    file: `${server}/auth/gate.ts`,
    line: "if (this.#attempts.isBarred(from)) return BARRED;",
    instead: "",
    tests: [`${server}/security.test.ts`, `${server}/abuse.test.ts`],
  },
  {
    file: `${server}/auth/gate.ts`,
    line: "this.#given.delete(token);",
    instead: "",
    tests: [`${server}/security.test.ts`, `${server}/signed-in-pages.test.ts`],
  },
  {
    file: `${server}/auth/signed-in-page.ts`,
    line: "if (who === undefined || Number(until) * 1_000 <= now) return undefined;",
    instead: "if (who === undefined) return undefined;",
    tests: [`${server}/security.test.ts`, `${server}/signed-in-pages.test.ts`],
  },
  {
    file: `${server}/auth/signed-in-page.ts`,
    line: "proofText(challenge, host.toLowerCase())",
    instead: 'proofText("", host.toLowerCase())',
    tests: [`${server}/security.test.ts`, `${server}/signed-in-pages.test.ts`],
  },
  {
    file: `${desk}/request/principal.ts`,
    line: 'export const GUEST: Principal = { name: "guest", rights: ["show", "watch"] };',
    instead: 'export const GUEST: Principal = { name: "guest", rights: ["show", "watch", "act"] };',
    tests: [`${server}/security.test.ts`],
  },
  {
    file: `${desk}/perform.ts`,
    line: "if (known) return known.what === what ? known.outcome : undefined;",
    instead: "",
    tests: [`${server}/turns.test.ts`, `${server}/server.test.ts`],
  },
  {
    file: `${desk}/perform.ts`,
    line: "if (known) return known.what === what ? known.outcome : undefined;",
    instead: "if (known) return known.outcome;",
    tests: [`${server}/http.test.ts`],
  },
  {
    file: `${desk}/live/subscription.ts`,
    line: "if (this.#line.isFull) await this.#line.room();",
    instead: "",
    tests: [`${desk}/live/subscription.test.ts`],
  },
];

/** All mutants. A new line that keeps a promise needs a row here. */
export const MUTANTS: readonly Mutant[] = [...FLUSHES, ...PROMISES];
