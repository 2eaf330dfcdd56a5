import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";
import { resolveModel } from "../resolve.ts";
import { bodyOf, serve } from "../testing/server.ts";
import { KeepingSink } from "../testing/sink.ts";

/** The bodies of a model's requests, in order, with the same driver. */
export async function bodiesOf(
  name: string,
  env: (address: string) => Record<string, string>,
  ...requests: readonly Partial<ModelRequest>[]
): Promise<Record<string, unknown>[]> {
  const bodies: Record<string, unknown>[] = [];
  await using server = await serve(async (request, response) => {
    bodies.push(JSON.parse(await bodyOf(request)));
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"enough"}}');
  });
  const model = await resolveModel(name, { env: env(server.baseURL.replace(/\/v1$/, "")) });
  for (const request of requests) {
    const whole = { instructions: "", messages: [], tools: [], toolChoice: "auto", settings: {}, ...request } as const;
    // The server refuses every request: only the bodies matter.
    await model.stream(whole, new KeepingSink(), new AbortController().signal).catch(() => {});
  }
  return bodies;
}

export const user = (text: string): PromptMessage => ({ role: "user", parts: [{ type: "text", text }] });

export const calls = (...ids: readonly string[]): PromptMessage => ({
  role: "assistant",
  parts: ids.map((id) => ({ type: "call", id, tool: "look", input: {} })),
  results: ids.map((call) => ({ call, tool: "look", output: `seen by ${call}`, failed: false })),
});

export const look = { name: "look", description: "Looks.", input: { type: "object", properties: {} } } as const;
