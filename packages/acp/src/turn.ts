import { setTimeout as sleep } from "node:timers/promises";
import { client, type InitializeResponse, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk/unstable";
import { ModelError } from "@banyan/core";
import type { LoopTurn, TurnSink } from "@banyan/core/drivers";
import { ForeignChanges, openWorkspace } from "@banyan/tools/workspace";
import manifest from "../package.json" with { type: "json" };
import { AgentProcess } from "./connection/agent-process.ts";
import { AgentSilenceError, agentFailure } from "./connection/failure.ts";
import { frames } from "./connection/frames.ts";
import type { AcpAgent } from "./connection/options.ts";
import { AgentReport, unexpectedEndError } from "./report/report.ts";
import { readySession } from "./session/session.ts";

/** Maximum bytes of one message of an agent. */
const LONGEST = 32 * 1024 * 1024;
/** Milliseconds for an agent to confirm a cancellation. Less than the conversation's own wait. */
const STOP = 2_000;

/**
 * Runs one turn with an agent. The agent's processes end with the turn. Rejects with a `ModelError` of one sentence.
 * The conversation keeps what the agent reported before the error.
 */
export async function runAgentTurn(
  agent: AcpAgent,
  turn: LoopTurn,
  sink: TurnSink,
  signal: AbortSignal,
): Promise<void> {
  const { name, patience: { start = 60_000, work = 600_000 } = {} } = agent;
  signal.throwIfAborted();
  const changes = new ForeignChanges(
    openWorkspace(agent.cwd),
    agent.backups === undefined ? {} : { backups: agent.backups },
  );
  const report = new AgentReport({ agent, sink, signal, changes });
  const noted = changes.noteAll();
  noted.catch(() => {}); // `await noted` below reports the error.
  await using process = await AgentProcess.start(name, agent);
  let heardAt = performance.now();
  let isGone = false;
  let broken: unknown;
  let session: string | undefined;
  let greeting: InitializeResponse | undefined;

  const app = client({ name: "banyan" })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      return { outcome: await report.permission(params, signal) };
    })
    .onRequest(methods.client.elicitation.create, ({ params, signal }) => report.elicitation(params, signal));
  const connection = app.connect(
    frames(process.input, process.output, {
      longest: LONGEST,
      babble: (line) => process.note(`${line}\n`),
      onUpdate: async ({ session: updated, update }) => {
        heardAt = performance.now();
        // Updates before the prompt repeat the past.
        if (update && updated === session) await report.update(update);
      },
      heard: async () => {
        heardAt = performance.now();
        await report.settled();
      },
      broken: (error) => {
        broken = error;
      },
    }),
  );
  const gone = connection.closed.then(async () => {
    if (broken !== undefined) throw broken;
    isGone = true;
    // The last output on standard error may arrive a moment later.
    await Promise.race([process.ended, sleep(500)]);
    throw new Error("its output ended");
  });
  gone.catch(() => {});
  const over = new AbortController();
  const stop = whenAborted(signal);
  const within = async <T>(promise: Promise<T>, patience: number, doing: string): Promise<T> => {
    promise.catch(() => {});
    const silent = untilSilent(patience, () => (report.isBusy ? performance.now() : heardAt), over.signal, doing);
    return Promise.race([promise, gone, silent, report.failed]);
  };
  try {
    const starting = async () => {
      const initialized = await connection.agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: "banyan", title: "Banyan", version: manifest.version },
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          elicitation: { form: {} },
        },
      });
      greeting = initialized;
      if (initialized.protocolVersion !== PROTOCOL_VERSION) throw wrongVersion(name, initialized.protocolVersion);
      const { agentCapabilities } = initialized;
      const ready = { connection: connection.agent, ...(agentCapabilities && { agentCapabilities }) };
      const session = await readySession(agent, ready, turn);
      await noted;
      return session;
    };
    const ready = await Promise.race([within(starting(), start, "sent nothing at its start"), stop.promise]);
    if (!ready) return;
    session = ready.id;
    report.spending.goOnFrom(ready.spent);
    report.spending.begin();
    const prompted = connection.agent.request(methods.agent.session.prompt, {
      sessionId: ready.id,
      prompt: ready.prompt,
    });
    const response = within(prompted, work, "sent nothing");
    response.catch(() => {});
    const first = await Promise.race([response, stop.promise]);
    const ended = first ?? (await cancelled());
    if (!ended) return report.breakOff();
    await report.finish(ended, { agent: agent.id, session: ready.id });
    if (report.problem) throw report.problem.error;
    const odd = signal.aborted ? undefined : unexpectedEndError(name, ended.stopReason);
    if (odd) throw odd;

    async function cancelled() {
      await connection.agent.notify(methods.agent.session.cancel, { sessionId: ready?.id ?? "" });
      return Promise.race([response, sleep(STOP, undefined, { signal: over.signal })]).catch(() => undefined);
    }
  } catch (error) {
    await report.breakOff();
    if (report.problem) throw report.problem.error;
    // The exit of the process is known a moment after the end of its output.
    if (connection.signal.aborted) await gone.catch(() => {});
    const signIn = (greeting?.authMethods ?? []).map(({ name, description }) =>
      description ? `${name} (${description})` : name,
    );
    throw agentFailure(error, { name, isGone, ending: process.ending, signIn });
  } finally {
    over.abort();
    stop[Symbol.dispose]();
    report.close();
    connection.close();
  }
}

function wrongVersion(name: string, version: number): ModelError {
  return new ModelError(
    "provider",
    `The agent "${name}" uses version ${version} of the Agent Client Protocol. Install an agent that uses version ${PROTOCOL_VERSION}.`,
    { retryable: false },
  );
}

function whenAborted(signal: AbortSignal): Disposable & { readonly promise: Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const abort = () => resolve(undefined);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return { promise, [Symbol.dispose]: () => signal.removeEventListener("abort", abort) };
}

/** Rejects with an `AgentSilenceError` after `patience` ms without a message. Never settles after `over` aborts. */
async function untilSilent(patience: number, heardAt: () => number, over: AbortSignal, doing: string): Promise<never> {
  for (;;) {
    const left = heardAt() + patience - performance.now();
    if (left <= 0) throw new AgentSilenceError(`${doing} for ${patience / 1000} seconds`);
    await sleep(Math.max(left, 10), undefined, { signal: over }).catch(() => {});
    if (over.aborted) return new Promise(() => {});
  }
}
