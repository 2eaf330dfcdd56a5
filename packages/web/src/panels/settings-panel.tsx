import { shortCount } from "@banyan/core/shown";
import { approvalIn, type Result, type ServerSettings } from "@banyan/protocol";
import { useEffect, useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { useKnownModels } from "../conversation/use-models.ts";
import { Button } from "../design/button.tsx";
import { Select, TextField } from "../design/field.tsx";
import { type KnownModel, usePage, usePageState } from "../page.ts";

import { usePreference } from "../shell/preferences.ts";

type Provider = Result<"model.list">["providers"][number];

/** Models that are listed at once; a longer list is narrowed down. */
const LISTED = 50;

const APPROVAL: Readonly<Record<ServerSettings["approval"], string>> = {
  plan: "Only look, and do nothing else before a plan is allowed",
  ask: "Ask for everything but looking",
  edits: "Change files of the workspace without asking",
  all: "Run everything without asking, in this conversation",
};

/** With which model, and how freely, agents work. */
export function SettingsPanel() {
  const settings = usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.settings : undefined,
  );
  if (!settings) return <p className="p-3 text-sm text-soft">These come with the connection.</p>;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-3 text-sm">
      <Approval settings={settings} />
      <Delivery />
      <Models everywhere={settings.model} />
    </div>
  );
}

/** What runs without asking: everything, in one conversation only, and once a person has written that down (S27). */
function Approval({ settings }: { readonly settings: ServerSettings }) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const [isAsked, setAsked] = useState(false);
  const mode = approvalIn(settings, conversation);
  const use = (next: ServerSettings["approval"]) => {
    setAsked(next === "all");
    if (next !== "all") page.told(page.connection.ask("approval.use", { mode: next }));
  };
  return (
    <fieldset>
      <legend className="font-medium">What agents may do</legend>
      {(Object.keys(APPROVAL) as (keyof typeof APPROVAL)[]).map((each) => (
        <label key={each} className="flex min-h-7 items-center gap-2">
          <input
            type="radio"
            name="approval"
            checked={isAsked ? each === "all" : mode === each}
            disabled={each === "all" && conversation === undefined}
            onChange={() => use(each)}
            className="size-4 accent-leaf"
          />
          {APPROVAL[each]}
        </label>
      ))}
      {isAsked && mode !== "all" && conversation !== undefined && (
        <NeverAsk
          onYes={() => {
            setAsked(false);
            page.told(page.connection.ask("approval.use", { mode: "all", conversation, confirmed: true }));
          }}
          onNo={() => setAsked(false)}
        />
      )}
    </fieldset>
  );
}

/** What Enter does while the agent works (W36). */
function Delivery() {
  const [delivery, setDelivery] = usePreference("delivery");
  return (
    <label className="mt-4 flex flex-wrap items-center gap-2">
      While the agent works, Enter
      <Select isSmall value={delivery} onChange={({ target }) => setDelivery(target.value as typeof delivery)}>
        <option value="steer">steers</option>
        <option value="queue">queues</option>
      </Select>
    </label>
  );
}

/** Only the word counts as a yes: no click, no Enter, no key. */
function NeverAsk({ onYes, onNo }: { readonly onYes: () => void; readonly onNo: () => void }) {
  const [word, setWord] = useState("");
  const isYes = word.trim().toLowerCase() === "yes";
  return (
    <form
      aria-label="Run everything without asking?"
      className="mt-2 flex flex-col gap-2 rounded border border-bad p-2 text-xs"
      onSubmit={(event) => {
        event.preventDefault();
        if (isYes) onYes();
      }}
    >
      <p>
        Every call would run in this conversation without asking you: commands, changes of files, and whatever a text
        that the agent reads talks it into. Deny rules still hold. It ends when the server does.
      </p>
      <label className="flex flex-col gap-1">
        Type yes to run everything unasked
        <TextField value={word} onChange={({ target }) => setWord(target.value)} autoComplete="off" />
      </label>
      <p className="flex gap-2">
        <Button type="submit" look="bad" disabled={!isYes}>
          Run everything here
        </Button>
        <Button onClick={onNo}>Go on asking</Button>
      </p>
    </form>
  );
}

function Models({ everywhere }: { readonly everywhere: string }) {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  const here = useTree()?.model;
  const [providers, setProviders] = useState<readonly Provider[]>([]);
  const [chosen, setChosen] = useState<string>();
  const [query, setQuery] = useState("");
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    connection.ask("model.list", {}).then(
      (listed) => {
        if (isWanted) setProviders(listed.providers);
      },
      (error: unknown) => {
        if (isWanted) setProblem(wordsOf(error));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [connection]);
  const provider = chosen ?? (here ?? everywhere).split("/", 1)[0] ?? "";
  const known = useKnownModels(provider);
  const found = known.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()));
  const use = (model: string, where: { conversation?: string }) => {
    connection.ask("model.use", { model, ...where }).then(
      () => setProblem(undefined),
      (error: unknown) => setProblem(wordsOf(error)),
    );
  };
  const reason = providers.find(({ name }) => name === provider)?.reason;
  return (
    <section aria-label="Models" className="mt-4 flex flex-col gap-2">
      <h2 className="font-medium">Model</h2>
      <p className="text-soft text-xs">
        Here: <code className="font-mono text-ink">{here ?? everywhere}</code>
        {here !== undefined && here !== everywhere && `; elsewhere: ${everywhere}`}
      </p>
      {problem !== undefined && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
      <label className="flex flex-col">
        Provider
        <Select value={provider} onChange={({ target }) => setChosen(target.value)}>
          {[...new Set([provider, ...providers.map(({ name }) => name)])].map((name) => (
            <option key={name} value={name}>
              {name}
              {providers.find((each) => each.name === name)?.usable === false ? " (cannot be used yet)" : ""}
            </option>
          ))}
        </Select>
      </label>
      {reason !== undefined && <p className="text-soft text-xs">{reason}</p>}
      <TextField
        type="search"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        aria-label="Narrow the models down"
        placeholder="Narrow the models down"
      />
      <ul aria-label={`Models of ${provider}`} className="flex flex-col gap-1">
        {found.slice(0, LISTED).map((model) => (
          <Choice
            key={model.name}
            model={model}
            isHere={model.name === (here ?? everywhere)}
            onHere={() => use(model.name, { conversation })}
            onEverywhere={() => use(model.name, {})}
          />
        ))}
      </ul>
      {found.length > LISTED && <p className="text-soft text-xs">and {found.length - LISTED} more</p>}
    </section>
  );
}

function Choice({
  model: { name, price, contextSize },
  isHere,
  onHere,
  onEverywhere,
}: {
  readonly model: KnownModel;
  readonly isHere: boolean;
  readonly onHere: () => void;
  readonly onEverywhere: () => void;
}) {
  return (
    <li className={`rounded border border-hair p-2 ${isHere ? "bg-leaf-ground" : ""}`}>
      <p className="font-mono text-xs">{name}</p>
      <p className="text-soft text-xs">
        {price ? `$${price.input} in, $${price.output} out, a million tokens` : "Price: —"}
        {" · "}
        {contextSize === undefined ? "context: —" : `${shortCount(contextSize)} context`}
      </p>
      <p className="mt-1 flex gap-1">
        <Button isSmall disabled={isHere} onClick={onHere}>
          {isHere ? "Used here" : "Use here"}
        </Button>
        <Button isSmall onClick={onEverywhere}>
          Use everywhere
        </Button>
      </p>
    </li>
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
