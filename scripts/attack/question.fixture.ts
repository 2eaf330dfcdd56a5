import { once } from "node:events";
import { modelServer } from "../../packages/cli/src/testing/model-server.ts";
import type { Place } from "./attack.ts";
import { AttackedScreen } from "./screen.fixture.ts";

export const TERMINALS = ["the full terminal", "plain lines", "an attached terminal"] as const;

const MODEL = ["--model", "openai-compatible/test"];

/**
 * Makes a model call a tool, and returns both screens of the approval prompt, before and after scrolling. The user
 * allows nothing.
 */
export async function questionAbout(
  place: Place,
  terminal: (typeof TERMINALS)[number],
  call: { readonly tool: string; readonly input: object },
): Promise<string> {
  await using model = await modelServer({ calls: [call] }, { text: "done" });
  const screen = await openScreen(place, terminal, model.env);
  await screen.until(/Reply to banyan/, place.signal);
  screen.enter("go");
  const first = await screen.until(/Allow this\?/, place.signal);
  if (!/more lines?: Up and Down move/.test(first)) return first;
  await screen.until(/^Allow this\?$/m, place.signal);
  screen.press("NPage");
  const [, top = ""] = /asks to run .*\n(.*)/.exec(first) ?? [];
  return first + (await screen.until(new RegExp(`^(?![\\s\\S]*${RegExp.escape(top)})`), place.signal));
}

export async function openScreen(
  place: Place,
  terminal: (typeof TERMINALS)[number],
  env: Readonly<Record<string, string>>,
): Promise<AttackedScreen> {
  if (terminal === "the full terminal") return new AttackedScreen(place, MODEL, env);
  if (terminal === "plain lines") return new AttackedScreen(place, ["--plain", ...MODEL], env);
  const token = { BANYAN_TOKEN: "a-token-of-an-attack" };
  const server = place.start(["serve", "--port", "0", ...MODEL], { env: { ...env, ...token } });
  let said = "";
  server.stdout.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
  });
  while (!said.includes("/?token=")) await once(server.stdout, "data", { signal: place.signal });
  const [address = ""] = /http:\/\/[^/]*/.exec(said) ?? [];
  return new AttackedScreen(place, ["attach", "--plain", address], { ...env, ...token });
}
