import { vi } from "vitest";
import { deadAddress } from "./testing/server.ts";

/** An environment without local servers, even if this machine runs some. */
export async function nobody(): Promise<Record<string, string>> {
  const address = await deadAddress();
  return { OLLAMA_BASE_URL: address, LMSTUDIO_BASE_URL: address, LLAMACPP_BASE_URL: address, VLLM_BASE_URL: address };
}

/** Disables timeouts of servers in a test: a busy machine may answer too late. */
export function beForbearing(): () => void {
  const patience = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  return () => patience.mockRestore();
}
