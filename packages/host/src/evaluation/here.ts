import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type AgentOptions, Session } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { call, finishTask, type Scene, scriptedModel, text } from "@banyan/core/testing";
import { ModelChoiceError } from "@banyan/models";
import { UNATTENDED } from "../conversations/conversations.ts";
import { readDefinitions } from "../definitions/all-definitions.ts";
import { contextKnown } from "../drivers/drivers.ts";
import type { Host } from "../host.ts";
import { AGENT } from "../host-agent.ts";
import { BEGAN, surroundings } from "../instructions/surroundings.ts";
import { serversSettled } from "../mcp/settled.ts";
import { type HostFlags, type HostOptions, openHost } from "../open-host.ts";
import { describePlace } from "../settings/fault.ts";
import type { KeyPath } from "../settings/key.ts";
import { readRuleFile } from "../settings/rule-file.ts";
import type { SettingName } from "../settings/schema.ts";
import type { AttemptPlace, Column, Competitor } from "./attempt.ts";
import { type Case, type Cases, readCases, type ScriptedResponse } from "./cases.ts";
import { type EvaluateOptions, type Evaluation, evaluate } from "./evaluate.ts";
import { FREE, type Judge } from "./judge.ts";
import { keyOf } from "./record.ts";

/** The name of the model whose responses stand in the cases. */
const SCRIPTED = "scripted";

/** What a host has whose model is put in the place of its own. */
const OFFLINE = "demo/offline";

/** The label of a conversation that is the evaluation of a file. */
const EVALUATES = "evaluates";

/**
 * A file of cases, and what of it is said otherwise.
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
  /** In place of those of the file: `provider/model`, or `scripted`. */
  readonly models?: readonly string[] | undefined;
  /** In place of that of the file. */
  readonly judge?: string | undefined;
  /** US dollars of all attempts together, in place of what the file says. */
  readonly cost?: number | undefined;
  /** Milliseconds of one run, in place of what the file says. */
  readonly time?: number | undefined;
  /** For the agents of all attempts, as for `banyan run`. */
  readonly flags?: Omit<HostFlags, "model" | "instructions">;
  /** Whether the settings, servers and instructions in the folder of a case are used. */
  readonly trusted?: boolean;
  /** Begins a new evaluation although there is one of this file. */
  readonly fresh?: boolean;
  /** Where the folders of attempts are made; among what may be lost when absent. */
  readonly directory?: string | undefined;
  /** Told what is not as one may think, each once. */
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

/** An evaluation of a file on this machine, opened. */
export interface OpenEvaluation extends AsyncDisposable {
  readonly cases: Cases;
  readonly session: Session;
  /** Makes the attempts that have no result yet. */
  run(options: Pick<EvaluateOptions, "repetitions" | "atOnce" | "signal" | "onAttempt">): Promise<Evaluation>;
}

/**
 * Reads a file of cases, looks for its models, and opens the conversation of its evaluation: the one that there is, or a new one. Nothing is
 * asked or spent. Its attempts work as `banyan run` does, each with a host of its own around its folder. Rejects with `SettingsError` for a
 * fault of the file, with `ModelChoiceError` for a model that cannot be used, with `StoreError` while somebody else has the
 * conversation open.
 */
export async function openEvaluation(options: EvaluationOptions): Promise<OpenEvaluation> {
  refuseUnknown("openEvaluation", options, OPTIONS);
  const { cwd, env, home, signal, store, notice = () => {} } = options;
  const cases = readCases(options.file);
  const [named] = options.models ?? cases.models;
  const flags = { ...options.flags, ...(named !== undefined && { model: named === SCRIPTED ? OFFLINE : named }) };
  await using opened = new AsyncDisposableStack();
  const host = await openHost({ ...{ cwd, env, home, signal, store }, flags, canAsk: false, readyLater: true }).catch(
    (error: unknown) => {
      throw placed(error, cases, options.models || named === undefined ? undefined : ["models", 0]);
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
        ...{ cases, columns, session, directory, judge, limits: { cost, time } },
        ...{ repetitions: cases.repetitions, atOnce: cases.atOnce },
        ...Object.fromEntries(Object.entries(how).filter(([, value]) => value !== undefined)),
      }),
    [Symbol.asyncDispose]: () => life.disposeAsync(),
  };
}

/** Finds models before anything is spent, and says where in the file one is named that cannot be used. */
class Models {
  readonly #host: Host;
  readonly #total: Cases["total"];
  readonly cases: Cases;

  constructor(host: Host, cases: Cases, total: Cases["total"]) {
    this.#host = host;
    this.cases = cases;
    this.#total = total;
  }

  /** The names of those that are compared. */
  async names(given: readonly string[] | undefined): Promise<readonly string[]> {
    const { cases } = this;
    const names = given ?? cases.models;
    if (names.length === 0) return this.names([this.#host.model.name]);
    for (const [index, name] of names.entries()) {
      const path = given ? undefined : ["models", index];
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

  /** Who judges; nobody when nothing is to be judged. */
  async judge(given: string | undefined): Promise<Judge | undefined> {
    const { cases } = this;
    const judged = cases.cases.flatMap(({ expect }, at) =>
      expect.flatMap((check, index) =>
        check.judge === undefined ? [] : [{ path: ["cases", at, "expect", index], script: check.script }],
      ),
    );
    const [first] = judged;
    const name = given ?? cases.judge;
    if (!first) return undefined;
    if (name === undefined)
      throw cases.fault(first.path, "there is no judge", "name a model, as in judge: openai/gpt-5");
    if (name !== SCRIPTED) return this.#found(name, given ? undefined : ["judge"], this.#total.cost !== undefined);
    const without = judged.find(({ script }) => script === undefined);
    if (without) throw cases.fault(without.path, "there is no script", "say what the judge scripted finds");
    return SCRIPTED;
  }

  async #found(name: string, path: KeyPath | undefined, limited: boolean): Promise<AgentOptions["model"]> {
    const { model } = await this.#host.agentWith(name).then(
      ({ options }) => options,
      (error: unknown) => {
        throw placed(error, this.cases, path);
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
    // What the command line names has no place in the file.
    return path
      ? this.cases.fault(path, problem, advice)
      : new ModelChoiceError("unknown-model", `${problem}; ${advice}.`);
  }
}

/** Where a model that cannot be used is named in the file, that is told. */
function placed(error: unknown, cases: Cases, path: KeyPath | undefined): unknown {
  if (!(error instanceof ModelChoiceError) || path === undefined) return error;
  return new ModelChoiceError(error.code, `${describePlace(cases.fault(path, "", "").fault)}: ${error.message}`);
}

/** The parts that the hosts of all attempts share. */
interface AttemptHosts {
  readonly notice: (sentence: string) => void;
  /** Takes over the sending of telemetry: no attempt waits for that. */
  readonly sending: (send: () => Promise<void>) => void;
}

/** Models beside each other, and for each of them the prompts. */
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
      open: (place) => competitor(model, prompt, place, options, hosts),
    })),
  );
}

/** Settings that change nothing about what an agent does. A setting that is not among them is part of the key of an attempt. */
const WITHOUT_EFFECT: readonly SettingName[] = [
  ...(["$schema", "titleModel", "retention", "theme", "keys", "prompt", "notify", "vim", "statusLine"] as const),
  // The column names the model.
  "model",
];

/** A digest of everything that decides an attempt beside its case and its column: settings, rules, instructions, agents and skills. */
function conditionsOf(
  { configuration, instructions, places }: Host,
  { flags = {}, trusted = false }: EvaluationOptions,
) {
  const settings = Object.entries(configuration.settings)
    .filter(([name]) => !WITHOUT_EFFECT.includes(name as SettingName))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const rules = flags.rules === undefined ? undefined : readRuleFile(flags.rules);
  // The built-in part names the folder that the command was started in.
  const texts = instructions.parts.filter(({ source }) => source !== "built-in").map(({ text }) => text);
  const { agents, skills } = readDefinitions(places);
  return keyOf([settings, rules, texts, agents, skills, trusted]);
}

/** An agent as `banyan run` has it, around the folder of an attempt. */
async function competitor(
  model: string,
  prompt: string | undefined,
  { directory, case: one, signal }: AttemptPlace,
  { env, home, flags, trusted = false }: EvaluationOptions,
  { notice, sending }: AttemptHosts,
): Promise<Competitor> {
  // A text that begins with @ would be taken for a file.
  const instructions = prompt === undefined ? {} : { instructions: prompt.replace(/^@/, "\n@") };
  const host = await openHost({
    ...{ cwd: directory, env, home, trusted, signal, sending },
    flags: { memory: false, ...flags, model: model === SCRIPTED ? OFFLINE : model, ...instructions },
    canAsk: false,
  });
  try {
    const { mcp, confinesIn } = await host.ready();
    const missing = mcp ? await serversSettled(mcp, signal) : [];
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

/** The model whose responses stand in the case. In task mode a text is what the task is finished with. */
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

/** The conversation that is the evaluation of this file, or a new one. */
async function sessionOf(host: Host, { file, fresh = false }: EvaluationOptions): Promise<Session> {
  const evaluates = realpathSync(file);
  const [last] = fresh ? [] : await host.store.list({ labels: { [EVALUATES]: evaluates }, limit: 1 });
  const labels = { cwd: host.workspace, agent: AGENT, [EVALUATES]: evaluates, [UNATTENDED]: "true" };
  return Session.open(host.store, last?.id, last ? {} : { create: true, labels });
}

function toldOnce(notice: (sentence: string) => void): (sentence: string) => void {
  const told = new Set<string>();
  return (sentence) => {
    if (told.has(sentence)) return;
    told.add(sentence);
    notice(sentence);
  };
}
