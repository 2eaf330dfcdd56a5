import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type AgentOptions, Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { call, finishTask, type Scene, scriptedModel, text } from "@banyan/core/testing";
import { ModelChoiceError } from "@banyan/models";
import { FREE, type Judge } from "../checks/judge.ts";
import { UNATTENDED } from "../conversations/conversations.ts";
import { readDefinitions } from "../definitions/all-definitions.ts";
import { contextKnown } from "../drivers/drivers.ts";
import type { Host } from "../host/host.ts";
import { AGENT } from "../host/host-agent.ts";
import { type HostFlags, type HostOptions, openHost } from "../host/open-host.ts";
import { BEGAN, surroundings } from "../instructions/surroundings.ts";
import { waitForServers } from "../mcp/first-turn-servers.ts";
import { describePlace } from "../settings/fault.ts";
import type { KeyPath } from "../settings/key.ts";
import { readRuleFile } from "../settings/rule-file.ts";
import type { SettingName } from "../settings/schema.ts";
import type { AttemptContext, Column, Competitor } from "./attempt.ts";
import { type Case, type Cases, readCases, type ScriptedResponse } from "./cases.ts";
import { type EvaluateOptions, evaluate } from "./evaluate.ts";
import { type Evaluation, shortKey } from "./record.ts";

/** The model whose responses are in the cases. */
const SCRIPTED = "scripted";

/** The model of a host whose agents get the scripted model. */
const OFFLINE = "demo/offline";

/** The label of an evaluation's conversation. Value: the path of the file of cases. */
const EVALUATES = "evaluates";

/**
 * Options of `openEvaluation`: a file of cases, and overrides.
 * @example
 * await using evaluation = await openEvaluation({
 *   file: "cases.yaml",
 *   models: ["anthropic/claude-sonnet-5", "openai/gpt-5"],
 *   judge: "openai/gpt-5-mini",
 *   cost: 5,
 *   time: 30 * 60_000,
 *   cwd: process.cwd(),
 *   env: process.env,
 *   home: homedir(),
 *   flags: { approval: "edits" },
 *   trusted: false,
 *   fresh: true,
 *   directory: "attempts",
 *   notice: console.error,
 * });
 * const { attempts } = await evaluation.run({ repetitions: 3 });
 */
export interface EvaluationOptions extends Pick<HostOptions, "cwd" | "env" | "home" | "signal" | "store"> {
  readonly file: string;
  /** Replaces the models of the file: `provider/model`, or `scripted`. */
  readonly models?: readonly string[] | undefined;
  readonly judge?: string | undefined;
  /** Replaces the file's limit in US dollars for all attempts together. */
  readonly cost?: number | undefined;
  /** Replaces the file's limit in milliseconds for one run. */
  readonly time?: number | undefined;
  /** Flags for the agents of all attempts, as for `banyan run`. */
  readonly flags?: Omit<HostFlags, "model" | "instructions">;
  /** True to use the settings, servers and instructions in a case's folder. */
  readonly trusted?: boolean;
  /** True to begin a new evaluation even if there is one for the file. */
  readonly fresh?: boolean;
  /** The parent of the attempts' folders. Default: in the cache folder. */
  readonly directory?: string | undefined;
  readonly notice?: (sentence: string) => void;
}

const OPTIONS: OptionNames<EvaluationOptions> = {
  cwd: true,
  env: true,
  home: true,
  signal: true,
  store: true,
  file: true,
  models: true,
  judge: true,
  cost: true,
  time: true,
  flags: true,
  trusted: true,
  fresh: true,
  directory: true,
  notice: true,
};

/** An open evaluation of a file on this machine. See {@link openEvaluation}. */
export interface OpenEvaluation extends AsyncDisposable {
  readonly cases: Cases;
  readonly session: Session;
  /** Runs the attempts that have no result yet. */
  run(options: Pick<EvaluateOptions, "repetitions" | "atOnce" | "signal" | "onAttempt">): Promise<Evaluation>;
}

/**
 * Reads a file of cases, finds its models, and opens the conversation of its evaluation. Calls no model. Each attempt
 * works as `banyan run` does, with its own host. Rejects with `SettingsError` for a fault of the file,
 * `ModelChoiceError` for an unusable model, and `StoreError` while another process has the conversation open.
 * @example
 * await using opened = await openEvaluation({
 *   file: "cases.yaml",
 *   models: ["openai/gpt-5"],
 *   cwd: process.cwd(),
 *   env: process.env,
 *   home: homedir(),
 * });
 * for (const row of evaluationTable(await opened.run({}))) console.log(row.join("  "));
 */
export async function openEvaluation(options: EvaluationOptions): Promise<OpenEvaluation> {
  refuseUnknown("openEvaluation", options, OPTIONS);
  const { cwd, env, home, signal, store, notice = () => {} } = options;
  const cases = readCases(options.file);
  const [named] = options.models ?? cases.models;
  const flags = { ...options.flags, ...(named !== undefined && { model: named === SCRIPTED ? OFFLINE : named }) };
  await using opened = new AsyncDisposableStack();
  const host = await openHost({ cwd, env, home, signal, store, flags, canAsk: false, readyLater: true }).catch(
    (error: unknown) => {
      throw locateModelError(error, cases, options.models || named === undefined ? undefined : ["models", 0]);
    },
  );
  opened.defer(() => host.close());
  const models = new Models(host, cases, { ...cases.total, ...(options.cost !== undefined && { cost: options.cost }) });
  const sent: Promise<void>[] = [];
  opened.defer(async () => {
    await Promise.all(sent);
  });
  const sending = (send: () => Promise<void>) => {
    sent.push(send());
  };
  const hosts = { notice: toldOnce(notice), sending };
  const columns = await columnsOf(host, models, options, hosts);
  const judge = await models.judge(options.judge);
  const session = opened.use(await sessionOf(host, options));
  const life = opened.move();
  const { cost = cases.total.cost, time = cases.total.time } = options;
  const directory = options.directory ?? join(host.places.cache, "evaluations");
  return {
    cases,
    session,
    run: (how) =>
      evaluate({
        cases,
        columns,
        session,
        directory,
        judge,
        limits: { cost, time },
        repetitions: cases.repetitions,
        atOnce: cases.atOnce,
        ...Object.fromEntries(Object.entries(how).filter(([, value]) => value !== undefined)),
      }),
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  };
}

/** Finds the models before anything is spent. Reports an unusable model with its line in the file. */
class Models {
  readonly #host: Host;
  readonly #total: Cases["total"];
  readonly cases: Cases;

  constructor(host: Host, cases: Cases, total: Cases["total"]) {
    this.#host = host;
    this.cases = cases;
    this.#total = total;
  }

  async names(chosen: readonly string[] | undefined): Promise<readonly string[]> {
    const { cases } = this;
    const names = chosen ?? cases.models;
    if (names.length === 0) return this.names([this.#host.model.name]);
    for (const [index, name] of names.entries()) {
      const path = chosen ? undefined : ["models", index];
      if (names.indexOf(name) !== index)
        throw this.#fault(path, `${name} is named twice`, "name each model once; repetitions asks one several times");
      if (name === SCRIPTED) {
        const without = cases.cases.findIndex(({ script }) => script === undefined);
        if (without >= 0)
          throw cases.fault(["cases", without], "there is no script", "say what the model scripted responds");
      } else {
        const limited = this.#total.cost !== undefined || cases.cases.some(({ limits }) => limits.cost !== undefined);
        await this.#found(name, path, limited);
      }
    }
    return names;
  }

  /** Undefined if no check needs a judge. */
  async judge(chosen: string | undefined): Promise<Judge | undefined> {
    const { cases } = this;
    const judged = cases.cases.flatMap(({ expect }, at) =>
      expect.flatMap((check, index) =>
        check.judge === undefined ? [] : [{ path: ["cases", at, "expect", index], script: check.script }],
      ),
    );
    const [first] = judged;
    const name = chosen ?? cases.judge;
    if (!first) return undefined;
    if (name === undefined)
      throw cases.fault(first.path, "there is no judge", "name a model, as in judge: openai/gpt-5");
    if (name !== SCRIPTED) return this.#found(name, chosen ? undefined : ["judge"], this.#total.cost !== undefined);
    const without = judged.find(({ script }) => script === undefined);
    if (without) throw cases.fault(without.path, "there is no script", "say what the judge scripted finds");
    return SCRIPTED;
  }

  async #found(name: string, path: KeyPath | undefined, limited: boolean): Promise<AgentOptions["model"]> {
    const { model } = await this.#host.agentWith(name).then(
      ({ options }) => options,
      (error: unknown) => {
        throw locateModelError(error, this.cases, path);
      },
    );
    if (limited && !("price" in model && model.price !== undefined))
      throw this.#fault(
        path,
        `the price of ${name} is not known, so a cost limit cannot be enforced`,
        "set its price in the settings (models), or remove the limit",
      );
    return model;
  }

  #fault(path: KeyPath | undefined, problem: string, advice: string): Error {
    // A model of the command line has no line in the file.
    return path
      ? this.cases.fault(path, problem, advice)
      : new ModelChoiceError("unknown-model", `${problem}; ${advice}.`);
  }
}

/** Adds the line in the file to an error about a model. */
function locateModelError(error: unknown, cases: Cases, path: KeyPath | undefined): unknown {
  if (!(error instanceof ModelChoiceError) || path === undefined) return error;
  return new ModelChoiceError(error.code, `${describePlace(cases.fault(path, "", "").fault)}: ${error.message}`);
}

interface AttemptHosts {
  readonly notice: (sentence: string) => void;
  /** True if attempts do not wait until telemetry is sent. */
  readonly sending: (send: () => Promise<void>) => void;
}

/** Each model with each prompt. */
async function columnsOf(
  host: Host,
  models: Models,
  options: EvaluationOptions,
  hosts: AttemptHosts,
): Promise<Column[]> {
  const prompts: readonly (readonly [string | undefined, string | undefined])[] = Object.entries(models.cases.prompts);
  const names = await models.names(options.models);
  const conditions = conditionsOf(host, options);
  return names.flatMap((model) =>
    (prompts.length > 0 ? prompts : [[undefined, undefined] as const]).map(([name, prompt]) => ({
      name: name === undefined ? model : `${model} · ${name}`,
      key: JSON.stringify([model, prompt, conditions]),
      open: (context) => competitor(model, prompt, context, options, hosts),
    })),
  );
}

/** Settings that do not change an agent's work. All others are part of an attempt's key. */
const WITHOUT_EFFECT: readonly SettingName[] = [
  ...(["$schema", "titleModel", "retention", "theme", "keys", "prompt", "notify", "vim", "statusLine"] as const),
  // The column's name has the model.
  "model",
];

/** Hashes everything else that decides an attempt: settings, rules, instructions, agents and skills. */
function conditionsOf(
  { configuration, instructions, places }: Host,
  { flags = {}, trusted = false }: EvaluationOptions,
) {
  const settings = Object.entries(configuration.settings)
    .filter(([name]) => !WITHOUT_EFFECT.includes(name as SettingName))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const rules = flags.rules === undefined ? undefined : readRuleFile(flags.rules);
  // The built-in part names the folder in which the command was started.
  const texts = instructions.parts.filter(({ source }) => source !== "built-in").map(({ text }) => text);
  const { agents, skills } = readDefinitions(places);
  return shortKey([settings, rules, texts, agents, skills, trusted]);
}

async function competitor(
  model: string,
  prompt: string | undefined,
  { directory, case: one, signal }: AttemptContext,
  { env, home, flags, trusted = false }: EvaluationOptions,
  { notice, sending }: AttemptHosts,
): Promise<Competitor> {
  // A text that begins with @ would count as a file name.
  const instructions = prompt === undefined ? {} : { instructions: prompt.replace(/^@/, "\n@") };
  const host = await openHost({
    cwd: directory,
    env,
    home,
    trusted,
    signal,
    sending,
    flags: { memory: false, ...flags, model: model === SCRIPTED ? OFFLINE : model, ...instructions },
    canAsk: false,
  });
  try {
    const { mcp, confinesIn } = await host.ready();
    const missing = mcp ? await waitForServers(mcp, signal) : [];
    for (const sentence of [...host.notices, ...missing]) notice(sentence);
    const agent = one.mode === "task" ? await host.taskAgent() : host.agent;
    await contextKnown(agent.options.model);
    const informed = host.informed(agent, {
      labels: { [BEGAN]: host.redact(surroundings(host.workspace)) },
      contents: new Map(),
    });
    return {
      agent: model === SCRIPTED ? informed.with(scripted(one)) : informed,
      sandbox: await confinesIn(host.workspace),
      redact: host.redact,
      close: () => host.close(),
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** In task mode, a text response finishes the task. */
function scripted({ script = [], mode }: Case): Partial<AgentOptions> {
  const sceneOf = (response: ScriptedResponse): Scene => {
    if (typeof response !== "string")
      return [
        ...(response.say === undefined ? [] : [text(response.say)]),
        ...response.calls.map(({ tool, input }) => call(tool, input)),
      ];
    return mode === "task" ? [finishTask(response)] : response;
  };
  const model = scriptedModel(script.map(sceneOf), { id: SCRIPTED, price: FREE });
  return { model, modelNamed: undefined, fallbacks: undefined };
}

async function sessionOf(host: Host, { file, fresh = false }: EvaluationOptions): Promise<Session> {
  const evaluates = realpathSync(file);
  const [last] = fresh ? [] : await host.store.list({ labels: { [EVALUATES]: evaluates }, limit: 1 });
  const labels = { cwd: host.workspace, agent: AGENT, [EVALUATES]: evaluates, [UNATTENDED]: "true" };
  return Session.open(host.store, last?.id, last ? {} : { create: true, labels });
}

function toldOnce(notice: (sentence: string) => void): (sentence: string) => void {
  const reported = new Set<string>();
  return (sentence) => {
    if (reported.has(sentence)) return;
    reported.add(sentence);
    notice(sentence);
  };
}
