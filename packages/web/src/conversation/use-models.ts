import { useEffect, useState } from "react";
import { type KnownModel, usePage, usePageState } from "../page.ts";
import { useMay } from "../use-may.ts";

const NONE: readonly KnownModel[] = [];

/** The model of the settings, for turns that have none of their own; nothing without a connection. */
export function useUsualModel(): string | undefined {
  return usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.settings.model : undefined,
  );
}

/** The models that are known of the provider of a model (`provider/model`); none until the server has told. */
export function useKnownModels(model: string): readonly KnownModel[] {
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
        // Without them, the current model is the one choice.
      },
    );
    return () => {
      isWanted = false;
    };
  }, [page, provider, mayAsk]);
  return models;
}
