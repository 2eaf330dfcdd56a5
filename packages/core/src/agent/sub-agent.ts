import { OptionError } from "../conversation/option-names.ts";
import type { Guards } from "../ports/guards.ts";
import type { CallHooks, Permission } from "../ports/human.ts";
import { knownDecision, type Permit } from "../ports/verdict.ts";
import { checkedVerdict, replacedText } from "../run/guard-messages.ts";
import type { ChatAgent } from "./chat.ts";
import type { TurnOptions } from "./turn-options.ts";

/**
 * Returns the options of an agent that works for another agent. The agent keeps its own model, instructions, tools,
 * mode and output. The rules of both agents judge its calls. The agent inherits all other options that it does not set.
 */
export function optionsWithin(own: TurnOptions, outer: TurnOptions): Partial<TurnOptions> {
  return {
    // The same object: the agent has no limits of its own.
    limits: own.limits ? { ...outer.limits, ...own.limits } : outer.limits,
    retry: { ...outer.retry, ...own.retry },
    bounds: { ...outer.bounds, ...own.bounds },
    hooks: bothHook(outer.hooks, own.hooks),
    callbacks: { ...outer.callbacks, ...own.callbacks },
    rateLimit: own.rateLimit ?? outer.rateLimit,
    guards: bothGuard(outer.guards as Guards | undefined, own.guards as Guards | undefined),
    context: own.context === undefined ? outer.context : own.context,
    callsAtOnce: own.callsAtOnce ?? outer.callsAtOnce,
    storeText: own.storeText ?? outer.storeText,
    unattended: own.unattended || outer.unattended,
    permission: bothPermit(outer.permission, own.permission),
  };
}

/** Combines the guards of both agents. The outer guard checks a user's message first, and a response last. */
function bothGuard(outer: Guards | undefined, own: Guards | undefined): Guards | undefined {
  if (!outer || !own || outer === own) return own ?? outer;
  const [first, second] = [own.output, outer.output];
  return {
    hold: [own, outer].some(({ output, hold }) => output && hold !== false),
    async input(message, turn) {
      const verdict = checkedVerdict("input", await outer.input?.(message, turn));
      if (verdict && "refuse" in verdict) return verdict;
      const passed = verdict ? { text: verdict.replace, parts: replacedText(message.parts, verdict) } : message;
      return (await own.input?.(passed, turn)) ?? verdict;
    },
    async output(response, turn) {
      const verdict = checkedVerdict("output", await first?.(response, turn));
      if (verdict && "refuse" in verdict) return verdict;
      const passed = verdict ? { ...response, text: verdict.replace, reasoning: "" } : response;
      return (await second?.(passed, turn)) ?? verdict;
    },
  };
}

/** Lets the hooks of both agents decide about a call, the outer hook first. Other hooks of the inner agent replace those of the outer. */
function bothHook(outer: CallHooks | undefined, own: CallHooks | undefined): CallHooks {
  const both = (name: "beforeCall" | "beforeQuestion") => {
    const [first, second] = [outer?.[name], own?.[name]];
    return first && second && first !== second ? { [name]: stricterHook(name, first, second) } : {};
  };
  return { ...outer, ...own, ...both("beforeCall"), ...both("beforeQuestion") };
}

type DecidingHook = NonNullable<CallHooks["beforeCall"]>;

function stricterHook(name: string, first: DecidingHook, second: DecidingHook): DecidingHook {
  return async (request) => {
    const one = knownDecision(`hooks.${name}`, await first(request));
    if (one?.decision === "deny") return one;
    const changed = one?.input === undefined ? request : { ...request, input: one.input };
    const two = knownDecision(`hooks.${name}`, await second(changed));
    if (two?.decision === "deny") return two;
    const decision = one?.decision === "ask" ? "ask" : (two?.decision ?? one?.decision);
    return { decision, input: two?.input ?? one?.input };
  };
}

/** Returns the stricter decision of two permission functions. */
function bothPermit(outer: Permission | undefined, own: Permission | undefined): Permission | undefined {
  if (!outer || !own || outer === own) return own ?? outer;
  return async (request) => {
    const first = await outer(request);
    return first.decision === "deny" ? first : stricter(first, await own(request));
  };
}

function stricter(first: Exclude<Permit, { decision: "deny" }>, second: Permit): Permit {
  if (second.decision === "allow") return first;
  if (second.decision === "deny" || first.decision === "allow") return second;
  return { ...second, byRule: first.byRule || second.byRule };
}

/**
 * Returns the options of an agent that continues a turn of another agent after a hand-off. Both agents share the limits
 * of the turn, so the lower limit counts. If the new agent sets its own steps, repeats and policy, these count.
 */
export function optionsAfter(own: TurnOptions, first: TurnOptions): Partial<TurnOptions> {
  const within = optionsWithin(own, first);
  const lower = { ...lowest("tokens"), ...lowest("cost"), ...lowest("time"), ...lowest("depth") };
  return {
    ...within,
    goal: first.goal ?? own.goal,
    limits: own.limits ? { ...within.limits, ...lower } : within.limits,
  };

  function lowest(name: "tokens" | "cost" | "time" | "depth") {
    const least = Math.min(own.limits?.[name] ?? NO_LIMIT, first.limits?.[name] ?? NO_LIMIT);
    return least === NO_LIMIT ? {} : { [name]: least };
  }
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Throws `OptionError` for a tool that hands over to an agent which cannot continue the turn. */
export function checkSuccessors({ name, options: { tools = [], output } }: ChatAgent): void {
  for (const { handsTo } of tools) {
    if (!handsTo) continue;
    const to = handsTo();
    if (!isChatAgent(to)) throw new OptionError("handOff: pass an Agent, as in handOff(writer).");
    if (to.name === name) throw new OptionError(`handOff: two agents have the name "${name}"; rename one.`);
    if (output !== undefined && to.options.output !== output) {
      const problem = `the agent "${to.name}" must have the same output as "${name}"`;
      throw new OptionError(`handOff: ${problem}, because it gives the result of the turn. Pass one schema to both.`);
    }
  }
}

function isChatAgent(agent: object | undefined): agent is ChatAgent {
  return agent !== undefined && "ready" in agent;
}
