import { useEffect, useState } from "react";
import { type OfferedModel, usePage, usePageState } from "../page/page.ts";
import { useMay } from "../page/use-may.ts";

const NONE: readonly OfferedModel[] = [];

/** Returns the default model for turns without a model of their own; `undefined` without a connection. */
export function useUsualModel(): string | undefined {
  return usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.settings.model : undefined,
  );
}

/** Returns the known models of a model's provider (`provider/model`); empty until the server answers. */
export function useKnownModels(model: string): readonly OfferedModel[] {
  const page = usePage();
  const [models, setModels] = useState(NONE);
  const provider = model.split("/", 1)[0] ?? "";
  const mayAsk = useMay()("model.list");
  useEffect(() => {
    if (provider === "" || !mayAsk) return;
    let isWanted = true;
    page.models(provider).then(
      (known) => {
        if (isWanted) setModels(known);
      },
      () => {
        // Without a list, the current model is the only choice.
      },
    );
    return () => {
      isWanted = false;
    };
  }, [page, provider, mayAsk]);
  return models;
}
