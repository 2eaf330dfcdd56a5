import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  type Call,
  type ConversationState,
  emptyConversation,
  type FeedItem,
  isDelta,
  isEvent,
  reduce,
  Session,
  type Usage,
} from "@banyan/core";
import { costOf, isEnded, totalTokens } from "@banyan/core/conversation";
import { checkConversation } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openHost } from "../host/open-host.ts";
import { directories } from "../places/directories.ts";
import {
  CHILDREN,
  FAILING,
  type FamilyModel,
  familyModel,
  GRANDCHILDREN,
  grandchildrenOf,
  KILLED,
  launchOf,
  MODELS,
  ROOT,
  STALLING,
  STOPPED,
  sumOf,
  type Told,
} from "./family.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./program.fixture.ts", import.meta.url));
const [FIRST, ...OTHERS] = MODELS as [(typeof MODELS)[number], ...typeof MODELS];

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-tree-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "Nothing much.\n");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const envFor = ({ env }: FamilyModel, name = FIRST.name) => ({
  ...env,
  BANYAN_HOME: join(home, "own"),
  BANYAN_MODEL: name,
  BANYAN_NO_DISCOVERY: "1",
});

/** Runs the tree in a process of its own until it ends, or until `enough` holds; then kills it with -9. */
async function live(
  what: "begin" | "resume",
  variables: Readonly<Record<string, string>>,
  enough: (item: FeedItem, state: ConversationState) => boolean = () => false,
): Promise<"ended" | "killed"> {
  const env = { PATH: process.env.PATH, ...variables };
  const child = spawn(process.execPath, [PROGRAM, what, home, cwd], { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close");
  const state = emptyConversation();
  for await (const line of createInterface({ input: child.stdout })) {
    const item = JSON.parse(line) as FeedItem;
    if (isEvent(item) || isDelta(item)) reduce(state, item);
    if (enough(item, state)) child.kill("SIGKILL");
  }
  const [code, signal] = await closed;
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The process failed by itself: it ended with ${code}.`);
  return signal === "SIGKILL" ? "killed" : "ended";
}

async function stored(): Promise<ConversationState> {
  const store = sqliteStore({ directory: directories({ BANYAN_HOME: join(home, "own") }, home).data });
  const [conversation] = await store.list();
  await using session = await Session.open(store, conversation?.id);
  const { state } = session;
  await store.close();
  return state;
}

/** Identifies a model call by its agent and number. */
function callOf({ agent, round }: Told): string {
  return `${agent} ${round}`;
}

function isDone(state: ConversationState, call: string): boolean {
  return callsIn(state).some(({ id, status }) => id === call && isEnded(status));
}

function callsIn({ messages }: ConversationState): Call[] {
  return [...messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []));
}

describe("a tree of 1 + 4 + 16 agents over HTTP", () => {
  test.each(process.env.BANYAN_LONG === "1" ? [FIRST, ...OTHERS] : [FIRST])(
    "B41, F23, F24: $name: one stalls, one fails, one is stopped, one is killed with the process; all others' results arrive, nobody is asked again, and cost is what the journal says",
    async ({ name, price }) => {
      await using model = await familyModel({
        fates: true,
        usage: (index) => ({ input: 100 * (index + 1), output: 7 * (index + 1) }),
      });
      const parent = KILLED.charAt(0);
      const others = [...CHILDREN, ...GRANDCHILDREN].filter((name) => name !== KILLED && name !== parent);
      let spoke = false;
      const end = await live("begin", envFor(model, name), (item, state) => {
        spoke ||= item.type === "message.checkpoint" && state.messages.get(item.message)?.call === launchOf(KILLED);
        return spoke && others.every((name) => isDone(state, launchOf(name)));
      });
      expect(end).toBe("killed");
      const asked = model.journal().length;
      expect(await live("resume", envFor(model, name))).toBe("ended");

      const journal = model.journal();
      expect(journal.slice(asked).map(callOf)).toEqual([`${KILLED} 2`, `${parent} 1`, `${ROOT} 1`]);

      const resultsOf = (name: string) => journal.findLast(({ agent }) => agent === name)?.results;
      expect(resultsOf(ROOT)).toEqual(CHILDREN.map((child) => `${child}: done`));
      for (const child of CHILDREN) {
        expect(resultsOf(child)).toEqual(
          grandchildrenOf(child).map((name) => {
            if (name === STOPPED)
              return expect.stringMatching(/the sub-agent was stopped .* last text:(\n|\\n)One thing/s);
            if (name === FAILING) return expect.stringMatching(/the sub-agent failed: .*Pay first/);
            return `${name}: done`;
          }),
        );
      }

      const state = await stored();
      expect(checkConversation(state)).toEqual([]);
      const calls = callsIn(state);
      expect(calls.filter(({ tool }) => tool === "launch_agent")).toHaveLength(20);
      expect(calls.filter(({ tool }) => tool === "read").map(({ attempt }) => attempt)).toEqual(Array(16).fill(1));

      // The usage of an answer comes at its end. Only the journal knows it for interrupted answers: one was retried, one
      // was stopped, one died with the process.
      const heard = [...new Map(journal.map((told) => [callOf(told), told])).values()].filter(
        (told) => callOf(told) !== `${STOPPED} 1` && callOf(told) !== `${KILLED} 1`,
      );
      expect(journal.filter((told) => callOf(told) === `${STALLING} 1`).length).toBeGreaterThan(1);
      expect(state.usage).toEqual(sumOf(heard));
      expect(state.cost).toBeCloseTo(costOf(sumOf(heard), price) ?? 0, 10);
    },
  );

  test.each([
    { what: "tokens", limit: 40_000, of: totalTokens },
    { what: "cost", limit: 0.08, of: (usage: Usage) => costOf(usage, FIRST.price) },
  ])("B13, invariant 10: a limit of $what applies to the sum of all agents", async ({ what, limit, of }) => {
    await using model = await familyModel({ fates: false, usage: () => ({ input: 1_000, output: 100 }) });
    const host = await openHost({ cwd, home, env: envFor(model), canAsk: false });
    await using session = Session.inMemory();
    const turn = await host.agent.with({ limits: { [what]: limit } }).send(ROOT, { session });
    await host.close();
    const spent = sumOf(model.journal());
    expect(turn.usage).toEqual(spent);
    expect(of(spent)).toBeLessThanOrEqual(limit);
    expect(of(spent)).toBeGreaterThan(limit / 2);
    const cutShort = callsIn(session.state).filter(({ output }) => output?.includes("reached the limit of"));
    expect(cutShort).not.toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });
});
