import { vi } from "vitest";
import { deadAddress } from "./testing/server.ts";

/** An environment in which no local server answers, whatever runs on this machine. */
export async function nobody(): Promise<Record<string, string>> {
  const address = await deadAddress();
  return { OLLAMA_BASE_URL: address, LMSTUDIO_BASE_URL: address, LLAMACPP_BASE_URL: address, VLLM_BASE_URL: address };
}

/** Has servers waited for in a test, however long they take: a busy machine may not answer itself in time. */
export function beForbearing(): () => void {
  const patience = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  return () => patience.mockRestore();
}
