import { usePageState } from "../parts/page/page.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t } from "../parts/phrases/phrases.ts";
import { examplesFor } from "./examples-for.ts";

const LOOKED_AT = 60;

/** Offers three example messages; a click fills the message box and sends nothing (W63). */
export function Examples({ onChoose }: { onChoose(example: string): void }) {
  const welcome = usePageState((state) => (state.connection.phase === "open" ? state.connection.welcome : undefined));
  const isDemo = welcome?.settings.model.startsWith("demo/") ?? false;
  const { answer, problem } = useServerAnswer(
    "file.find",
    welcome && { query: "", limit: LOOKED_AT },
    welcome?.workspace,
  );
  // Without a list of files, show the examples that need none.
  const files = answer?.files ?? (problem === undefined ? undefined : []);
  return (
    // Reserve their space before they are known, so that nothing moves below the pointer.
    <ul aria-label={t("Examples")} className="flex min-h-9 flex-wrap justify-center gap-2">
      {files &&
        examplesFor(files, isDemo).map((example) => (
          <li key={example}>
            <button
              type="button"
              onClick={() => onChoose(example)}
              className="min-h-8 rounded-full border border-hair bg-surface px-3 py-1 text-sm text-soft hover:border-line hover:text-ink"
            >
              <bdi>{example}</bdi>
            </button>
          </li>
        ))}
    </ul>
  );
}
