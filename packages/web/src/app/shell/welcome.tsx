import { useEffect } from "react";
import { FirstMessage } from "../../composer/first-message.tsx";
import { correct } from "../../parts/browser/navigation.tsx";
import { Notice } from "../../parts/design/notice.tsx";
import { usePage, usePageState } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { useServerAnswer } from "../../parts/page/use-server-answer.ts";
import { tParts } from "../../parts/phrases/parts.tsx";
import { t, withoutName } from "../../parts/phrases/phrases.ts";
import { Inbox } from "../conversations/inbox.tsx";
import { opening } from "../conversations/new-conversation.tsx";

export function Welcome() {
  const page = usePage();
  const connection = usePageState(({ connection }) => connection);
  const may = useMay();
  const welcome = connection.phase === "open" ? connection.welcome : undefined;
  const only = welcome?.only;
  const mayBegin = may("turn.say") && may("conversation.create");
  useEffect(() => {
    if (only) correct(only);
  }, [only]);
  if (only) return null;
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center overflow-y-auto px-4 py-6 max-md:pt-14">
      {/* Starts at a fixed height: later content extends it downwards and moves nothing above (W54). */}
      <div className="mt-[14vh] mb-auto flex w-full max-w-text flex-col items-center gap-5 short:mt-0 short:gap-2">
        <h1 className="flex items-center gap-x-3 gap-y-2 text-center font-semibold text-2xl max-sm:flex-col max-sm:text-xl short:text-lg">
          <img src="/icon.svg" alt="" className="size-10 short:hidden" />
          {mayBegin ? t("What should we work on?") : "Banyan"}
        </h1>
        {/* The line keeps its space before the server answers. */}
        <p className="min-h-6 text-center text-soft">
          {welcome?.workspace === "" && welcome.agent}
          {welcome?.workspace &&
            tParts("{agent} works in {workspace}", {
              agent: welcome.agent,
              workspace: <code className="font-mono text-sm">{welcome.workspace}</code>,
            })}
        </p>
        {mayBegin ? (
          <FirstMessage opening={() => opening(page)} />
        ) : (
          <p className="text-soft text-sm">{t("View only: you can read the conversations here.")}</p>
        )}
        <Inbox />
        {mayBegin && welcome && <ModelSource model={welcome.settings.model} />}
        {welcome?.notices && <LeftOut notices={welcome.notices} />}
      </div>
    </div>
  );
}

function LeftOut({ notices }: { readonly notices: readonly string[] }) {
  return (
    <div className="w-full">
      <Notice tone="warn" head={t("Settings and files that the server did not use as they are written")}>
        <ul className="list-disc ps-5 text-soft">
          {notices.map((notice) => (
            <li key={notice} className="break-words">
              {notice}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

const NAMED = 4;

/** Names the provider of the model. For the demo, says how to get a real model (W63). */
function ModelSource({ model }: { readonly model: string }) {
  const mayAsk = useMay()("model.list");
  const providers = useServerAnswer("model.list", mayAsk ? {} : undefined).answer?.providers;
  const name = model.split("/", 1)[0] ?? "";
  const source = providers?.find((provider) => provider.name === name)?.reason;
  if (name !== "demo") {
    return (
      <p className="min-h-5 text-center text-soft text-sm">
        {model}
        {source && ` · ${source}`}
      </p>
    );
  }
  const usable = providers?.filter((provider) => provider.usable && provider.name !== "demo") ?? [];
  const missing = providers?.filter((provider) => !provider.usable).slice(0, NAMED) ?? [];
  return (
    <div className="w-full">
      <Notice tone="warn" head={t("This is a demo without a language model")}>
        {usable.length > 0 ? (
          <p>
            {t("Choose a real model in the box above: {models}.", {
              models: usable.map((provider) => provider.defaultModel ?? provider.name).join(", "),
            })}
          </p>
        ) : (
          <>
            <p>
              {t(
                "To use a real model, set the key of a provider or start a local server such as Ollama. Then restart banyan:",
              )}
            </p>
            <ul hidden={missing.length === 0} className="mt-1 list-disc ps-5 text-soft">
              {missing.map((provider) => (
                <li key={provider.name}>
                  <span className="font-medium text-ink">{provider.name}</span>:{" "}
                  {withoutName(provider.name, provider.reason)}
                </li>
              ))}
            </ul>
          </>
        )}
      </Notice>
    </div>
  );
}
