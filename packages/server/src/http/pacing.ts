import type { MiddlewareHandler } from "hono";
import { Pace } from "../socket/pace.ts";
import type { HttpEnvironment } from "./app.ts";

/** Addresses whose pace is remembered. */
const ADDRESSES = 1_000;

/** Holds back whoever asks too fast, at whatever address for programs; what they get is kept by nobody. */
export function pacing(): MiddlewareHandler<HttpEnvironment> {
  const paces = new Map<string, Pace>();
  return async (context, next) => {
    // A guest on the owner's machine does not use up what the owner may ask.
    const from = `${context.get("principal").name} ${context.env.incoming.socket.remoteAddress}`;
    const pace = paces.get(from) ?? new Pace();
    paces.delete(from);
    paces.set(from, pace);
    if (paces.size > ADDRESSES) paces.delete(paces.keys().next().value as string);
    if (pace.next() !== "go")
      return context.json({ error: { code: "busy", message: "Too many requests; try again." } }, 429);
    context.header("Cache-Control", "no-store");
    return next();
  };
}
