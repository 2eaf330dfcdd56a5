import { createContext, useContext } from "react";
import type { Artifact } from "./artifact.ts";

/** Opens an artifact next to the conversation; absent where there is no panel. */
export type OpenArtifact = (artifact: Artifact) => void;

const Context = createContext<OpenArtifact | undefined>(undefined);

/** Provides the function that opens artifacts. */
export const ArtifactPlace = Context.Provider;

/** The function that opens artifacts, if there is a panel. */
export function useOpenArtifact(): OpenArtifact | undefined {
  return useContext(Context);
}
