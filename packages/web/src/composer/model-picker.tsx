import { shortCount } from "@banyan/client/words";
import { errorMessage } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { useEffect, useState } from "react";
import { takesFocus } from "../parts/browser/focus-on.ts";
import { keepValue, keptValue } from "../parts/browser/kept-value.ts";
import { TextField } from "../parts/design/field.tsx";
import { type OfferedModel, usePage } from "../parts/page/page.ts";
import { t, withoutName } from "../parts/phrases/phrases.ts";

const EFFORTS = ["", "low", "medium", "high"] as const;
const EFFORT_NAMES = { "": t("default"), low: t("low"), medium: t("medium"), high: t("high") } as const;

const LAST = 5;
const LISTED = 60;

/** Lists all usable models, filtered by a part of the name. Other models are entered by their full name (W64). */
export function ModelPicker({ used, onChoose }: { readonly used: string; onChoose(model: string): void }) {
  const { providers, models, problem } = useUsable();
  const [query, setQuery] = useState("");
  const [effort, setEffort] = useState<(typeof EFFORTS)[number]>("");
  const wanted = query.trim().toLowerCase();
  const last = lastUsed();
  const placeOf = (name: string) => (last.includes(name) ? last.indexOf(name) : LAST);
  const found = models
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .toSorted((first, second) => placeOf(first.name) - placeOf(second.name));
  const isNamed = /^[^\s/]+\/\S+$/.test(query.trim()) && !found.some(({ name }) => name === query.trim());
  const choose = (name: string) => {
    keepValue(KEY, [name, ...last.filter((other) => other !== name)].slice(0, LAST));
    onChoose(effort === "" ? name : `${name}:${effort}`);
  };
  const others = providers.filter(({ usable, name }) => !usable && name.includes(wanted));
  return (
    <form
      aria-label={t("Models")}
      className="flex max-h-[min(70vh,28rem)] flex-col text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        const first = isNamed ? query.trim() : found[0]?.name;
        if (first !== undefined) choose(first);
      }}
    >
      <div className="flex flex-wrap items-center gap-2 border-hair border-b p-2">
        <span className="flex min-w-40 flex-1 flex-col">
          <TextField
            ref={takesFocus}
            type="search"
            value={query}
            onChange={({ target }) => setQuery(target.value)}
            aria-label={t("Search, or type a model name")}
            placeholder={t("Search, or type a model name")}
          />
        </span>
        <fieldset aria-label={t("Effort")} className="flex">
          {EFFORTS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={effort === each}
              onClick={() => setEffort(each)}
              className="min-h-7 rounded-md px-1.5 text-soft text-xs hover:text-ink aria-pressed:bg-sunken aria-pressed:text-ink"
            >
              {EFFORT_NAMES[each]}
            </button>
          ))}
        </fieldset>
      </div>
      <ul aria-label={t("Available models")} className="min-h-0 overflow-y-auto p-1">
        {isNamed && (
          <li>
            <Model model={{ name: query.trim() }} isUsed={false} onChoose={choose} />
          </li>
        )}
        {found.slice(0, LISTED).map((model) => (
          <li key={model.name}>
            <Model model={model} isUsed={model.name === used} onChoose={choose} />
          </li>
        ))}
        {found.length > LISTED && (
          <li className="px-3 py-1 text-soft text-xs">{t("and {count} more", { count: found.length - LISTED })}</li>
        )}
        {found.length === 0 && !isNamed && (
          <li className="px-3 py-2 text-soft text-xs">
            {problem ?? t("No matching model. To use another model, enter its full name, such as provider/model.")}
          </li>
        )}
        {others.map(({ name, reason }) => (
          <li key={name} className="px-3 py-1.5 text-xs">
            <span className="font-medium text-soft">{name}</span>{" "}
            <span className="text-soft">{withoutName(name, reason)}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

function Model({
  model: { name, price, contextSize, sees },
  isUsed,
  onChoose,
}: {
  readonly model: Pick<OfferedModel, "name" | "price" | "contextSize" | "sees">;
  readonly isUsed: boolean;
  onChoose(name: string): void;
}) {
  const about = [
    price ? pricedAt(price) : t("price unknown"),
    contextSize === undefined ? t("context unknown") : t("{size} context", { size: shortCount(contextSize) }),
    ...(sees === undefined ? [] : [sees ? t("reads images") : t("no images")]),
  ];
  return (
    <button
      type="button"
      aria-pressed={isUsed}
      onClick={() => onChoose(name)}
      className="block w-full rounded-md px-3 py-1.5 text-start hover:bg-sunken aria-pressed:bg-leaf-ground"
    >
      <span className="block truncate font-medium">{name}</span>
      <span className="text-soft text-xs">{about.join(" · ")}</span>
    </button>
  );
}

/** Returns the price of a model in words. */
export function pricedAt({ input, output }: NonNullable<OfferedModel["price"]>): string {
  return t("{input} in, {output} out per million tokens", { input: `$${input}`, output: `$${output}` });
}

const KEY = "models";

function lastUsed(): readonly string[] {
  const read = keptValue(KEY);
  return Array.isArray(read) ? read.filter((name): name is string => typeof name === "string") : [];
}

function useUsable() {
  const page = usePage();
  const [providers, setProviders] = useState<Result<"model.list">["providers"]>([]);
  const [models, setModels] = useState<readonly OfferedModel[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    const look = async () => {
      const listed = await page.connection.ask("model.list", {});
      if (!isWanted) return;
      setProviders(listed.providers);
      // One after another: a server limits the command rate.
      for (const { name, usable, price, models: own = [] } of listed.providers) {
        if (!usable) continue;
        const known = await page.models(name);
        if (!isWanted) return;
        const names = new Set(known.map((model) => model.name));
        const others = own
          .filter((each) => !names.has(each))
          .map((each): OfferedModel => ({ name: each, ...(price ? { price } : {}) }));
        setModels((before) => [...before, ...known, ...others]);
      }
    };
    look().catch((error: unknown) => {
      if (isWanted) setProblem(errorMessage(error));
    });
    return () => {
      isWanted = false;
      setModels([]);
    };
  }, [page]);
  return { providers, models, problem };
}
