import { LLMock } from "@copilotkit/aimock";

/** A mock provider for real agents. Its model makes one tool call, then ends its turn. */
export async function oneCallProvider(tool: string, input: object) {
  const mock = new LLMock({ port: 0 });
  const url = await mock.start();
  mock.on({ hasToolResult: true }, { content: "Done." });
  mock.onMessage(/.*/, { toolCalls: [{ name: tool, arguments: JSON.stringify(input) }] });
  return { url, wasAsked: () => mock.getRequests().length > 0, stop: () => mock.stop() };
}
