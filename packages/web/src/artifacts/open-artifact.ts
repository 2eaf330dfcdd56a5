import { createContext, useContext } from "react";
import type { Artifact } from "./artifact.ts";

/** Opens what an answer holds beside the conversation; absent where there is no place beside it. */
export type OpenArtifact = (artifact: Artifact) => void;

const Context = createContext<OpenArtifact | undefined>(undefined);

/** Gives the answers inside a place where what they hold can be opened. */
export const ArtifactPlace = Context.Provider;

/** How something is opened beside the conversation, if it can be. */
export function useOpenArtifact(): OpenArtifact | undefined {
  return useContext(Context);
}
