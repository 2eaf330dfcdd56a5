import { createContext, useContext } from "react";
import type { Artifact } from "./artifact.ts";

/** Opens an artifact next to the conversation. */
export type OpenArtifact = (artifact: Artifact) => void;

const Context = createContext<OpenArtifact | undefined>(undefined);

export const ArtifactPlace = Context.Provider;

/** Returns the function that opens artifacts; `undefined` without a panel. */
export function useOpenArtifact(): OpenArtifact | undefined {
  return useContext(Context);
}
