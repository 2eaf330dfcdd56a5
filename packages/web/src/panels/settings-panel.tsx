import { shortCount } from "@banyan/client/words";
import { errorMessage } from "@banyan/core/shown";
import { type ApprovalMode, approvalIn, offeredModes, type ServerSettings } from "@banyan/protocol";
import { useState } from "react";
import { pricedAt } from "../composer/model-picker.tsx";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useKnownModels } from "../parts/conversation/use-models.ts";
import { Button } from "../parts/design/button.tsx";
import { Select, TextField } from "../parts/design/field.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { type OfferedModel, usePage, usePageState } from "../parts/page/page.ts";
import { usePreference } from "../parts/page/preferences.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { tParts } from "../parts/phrases/parts.tsx";
import { chosenLanguage, LANGUAGES, type PageLanguage, setLanguage, t } from "../parts/phrases/phrases.ts";
import { OwnPrompts, Presets } from "./own-things.tsx";

const LISTED = 50;

const APPROVAL: Readonly<Record<ApprovalMode, string>> = {
  plan: t("Plan first"),
  ask: t("Ask before changes"),
  edits: t("Edit files freely"),
  sandbox: t("Edit files, and run commands in the sandbox"),
  all: t("Run everything without asking (only this conversation)"),
};

export function SettingsPanel() {
  const settings = usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.settings : undefined,
  );
  if (!settings) return <p className="p-3 text-sm text-soft">{t("Available when connected.")}</p>;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-3 text-sm">
      <ApprovalSetting settings={settings} />
      <DeliverySetting />
      <LanguageChoice />
      <NotifyChoice />
      <OwnPrompts />
      <Presets model={settings.model} />
      <Models everywhere={settings.model} />
    </div>
  );
}

/** The approval mode. `all` applies to one conversation, after the user typed a confirmation (S27). */
function ApprovalSetting({ settings }: { readonly settings: ServerSettings }) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const [isAsked, setAsked] = useState(false);
  const mode = approvalIn(settings, conversation);
  const use = (next: ApprovalMode) => {
    setAsked(next === "all");
    if (next !== "all") page.told(page.connection.ask("approval.use", { mode: next }));
  };
  return (
    <fieldset>
      <legend className="font-medium">{t("Permissions")}</legend>
      {offeredModes(settings).map((each) => (
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
      {mode === "sandbox" && (
        <p className="text-soft text-xs">{t("Caches such as node_modules are rebuilt, not undone.")}</p>
      )}
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

function DeliverySetting() {
  const [delivery, setDelivery] = usePreference("delivery");
  return (
    <label className="mt-4 flex flex-wrap items-center gap-2">
      {t("While the agent works, Enter sends")}
      <Select isSmall value={delivery} onChange={({ target }) => setDelivery(target.value as typeof delivery)}>
        <option value="steer">{t("now")}</option>
        <option value="queue">{t("after this turn")}</option>
      </Select>
    </label>
  );
}

function LanguageChoice() {
  return (
    <label className="mt-4 flex flex-wrap items-center gap-2">
      {t("Language")}
      <Select
        isSmall
        value={chosenLanguage() ?? ""}
        onChange={({ target }) => setLanguage((target.value || undefined) as PageLanguage | undefined)}
      >
        <option value="">{t("Same as the browser")}</option>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </Select>
    </label>
  );
}

function NotifyChoice() {
  const [notify, setNotify] = usePreference("notify");
  const [isRefused, setRefused] = useState(false);
  if (!("Notification" in window)) return null;
  const choose = async (isOn: boolean) => {
    const isAllowed = !isOn || (await Notification.requestPermission()) === "granted";
    setRefused(!isAllowed);
    setNotify(isOn && isAllowed ? "on" : "off");
  };
  return (
    <div className="mt-4">
      <label className="flex min-h-7 items-center gap-2">
        <input
          type="checkbox"
          checked={notify === "on"}
          onChange={({ target }) => choose(target.checked).catch(() => setRefused(true))}
          className="size-4 accent-leaf"
        />
        {t("Notify me when the agent needs me or is done")}
      </label>
      {isRefused && (
        <p role="alert" className="text-warn text-xs">
          {t("The browser blocks notifications. Allow them in its settings for this site.")}
        </p>
      )}
    </div>
  );
}

/** Only the typed word counts as consent: no click, no Enter, no key. */
function NeverAsk({ onYes, onNo }: { readonly onYes: () => void; readonly onNo: () => void }) {
  const [word, setWord] = useState("");
  const isYes = word.trim().toLowerCase() === "yes";
  return (
    <form
      aria-label={t("Run everything without asking?")}
      className="mt-2 flex flex-col gap-2 rounded border border-bad p-2 text-xs"
      onSubmit={(event) => {
        event.preventDefault();
        if (isYes) onYes();
      }}
    >
      <p>
        {t(
          "The agent will run all commands and change files in this conversation without asking you, even if a text that it reads tricks it into doing so. Deny rules still apply. This mode ends when the server stops.",
        )}
      </p>
      <label className="flex flex-col gap-1">
        {t("Type yes to run everything without asking")}
        <TextField value={word} onChange={({ target }) => setWord(target.value)} autoComplete="off" />
      </label>
      <p className="flex gap-2">
        <Button type="submit" look="bad" disabled={!isYes}>
          {t("Run everything here")}
        </Button>
        <Button onClick={onNo}>{t("Keep asking")}</Button>
      </p>
    </form>
  );
}

function Models({ everywhere }: { readonly everywhere: string }) {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  const here = useTree()?.model;
  const [chosen, setChosen] = useState<string>();
  const [query, setQuery] = useState("");
  const [refusal, setRefusal] = useState<string>();
  const { answer, problem = refusal } = useServerAnswer("model.list", {});
  const providers = answer?.providers ?? [];
  const provider = chosen ?? (here ?? everywhere).split("/", 1)[0] ?? "";
  const known = useKnownModels(provider);
  const found = known.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()));
  const use = (model: string, where: { conversation?: string }) => {
    connection.ask("model.use", { model, ...where }).then(
      () => setRefusal(undefined),
      (error: unknown) => setRefusal(errorMessage(error)),
    );
  };
  const reason = providers.find(({ name }) => name === provider)?.reason;
  return (
    <section aria-label={t("Models")} className="mt-4 flex flex-col gap-2">
      <h2 className="font-medium">{t("Model")}</h2>
      <p className="text-soft text-xs">
        {tParts(
          here !== undefined && here !== everywhere
            ? "This conversation: {model}. Others: {everywhere}"
            : "This conversation: {model}",
          {
            model: <code className="font-mono text-ink">{here ?? everywhere}</code>,
            everywhere,
          },
        )}
      </p>
      <ErrorText>{problem}</ErrorText>
      <label className="flex flex-col">
        {t("Provider")}
        <Select value={provider} onChange={({ target }) => setChosen(target.value)}>
          {[...new Set([provider, ...providers.map(({ name }) => name)])].map((name) => (
            <option key={name} value={name}>
              {providers.find((each) => each.name === name)?.usable === false
                ? t("{name} (not set up)", { name })
                : name}
            </option>
          ))}
        </Select>
      </label>
      {reason !== undefined && <p className="text-soft text-xs">{reason}</p>}
      <TextField
        type="search"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        aria-label={t("Filter models")}
        placeholder={t("Filter models")}
      />
      <ul aria-label={t("Models of {provider}", { provider })} className="flex flex-col gap-1">
        {found.slice(0, LISTED).map((model) => (
          <ModelSetting
            key={model.name}
            model={model}
            isHere={model.name === (here ?? everywhere)}
            onHere={() => use(model.name, { conversation })}
            onEverywhere={() => use(model.name, {})}
          />
        ))}
      </ul>
      {found.length > LISTED && (
        <p className="text-soft text-xs">{t("and {count} more", { count: found.length - LISTED })}</p>
      )}
    </section>
  );
}

function ModelSetting({
  model: { name, price, contextSize },
  isHere,
  onHere,
  onEverywhere,
}: {
  readonly model: OfferedModel;
  readonly isHere: boolean;
  readonly onHere: () => void;
  readonly onEverywhere: () => void;
}) {
  return (
    <li className={`rounded border border-hair p-2 ${isHere ? "bg-leaf-ground" : ""}`}>
      <p className="font-mono text-xs">{name}</p>
      <p className="text-soft text-xs">
        {price ? pricedAt(price) : t("Price: —")}
        {" · "}
        {contextSize === undefined ? t("context: —") : t("{size} context", { size: shortCount(contextSize) })}
      </p>
      <p className="mt-1 flex gap-1">
        <Button isSmall disabled={isHere} onClick={onHere}>
          {isHere ? t("In use") : t("Use here")}
        </Button>
        <Button isSmall onClick={onEverywhere}>
          {t("Use everywhere")}
        </Button>
      </p>
    </li>
  );
}
