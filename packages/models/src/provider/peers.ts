import { ModelChoiceError } from "./model-choice-error.ts";

/** The optional peers of this package, with their major versions in `peerDependencies`. */
export const PEERS = {
  "@ai-sdk/amazon-bedrock": 5,
  "@ai-sdk/anthropic": 4,
  "@ai-sdk/azure": 4,
  "@ai-sdk/deepseek": 3,
  "@ai-sdk/google": 4,
  "@ai-sdk/groq": 4,
  "@ai-sdk/mistral": 4,
  "@ai-sdk/openai": 4,
  "@ai-sdk/openai-compatible": 3,
  "@ai-sdk/xai": 5,
  "node-llama-cpp": 3,
} as const;

/** A package of a provider, which a user installs if they use the provider. */
export type Peer = keyof typeof PEERS;

/** Loads code that needs a peer. Rejects with `ModelChoiceError` `missing-package` if the peer is not installed. */
export async function withPeer<Code>(peer: Peer, load: () => Promise<Code>): Promise<Code> {
  try {
    return await load();
  } catch (error) {
    // Each runtime has its own error for a missing package, but all errors quote the name of the package.
    const quoted = new RegExp(`["'\`]${peer}(/\\w+)?["'\`]`);
    if (!(error instanceof Error) || !quoted.test(error.message)) throw error;
    throw missingPackage(peer, error);
  }
}

function missingPackage(peer: Peer, cause: Error): ModelChoiceError {
  const advice = `Install it: npm install ${peer}@${PEERS[peer]}`;
  const message = `This model needs the package ${peer}, which is not installed. ${advice}`;
  return new ModelChoiceError("missing-package", message, { cause });
}

/** Returns whether a peer is installed, without loading the peer. */
export function isInstalled(peer: Peer): boolean {
  try {
    import.meta.resolve(peer);
    return true;
  } catch {
    return false;
  }
}
