import { errorMessage } from "@banyan/core/shown";
import { BRANCHES_AT_ONCE } from "@banyan/protocol";
import { useState } from "react";
import { ModelPicker } from "../composer/model-picker.tsx";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { useUsualModel } from "../parts/conversation/use-models.ts";
import { Button, IconButton } from "../parts/design/button.tsx";
import { Select, TextArea } from "../parts/design/field.tsx";
import { usePage } from "../parts/page/page.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";

const TIMES = Array.from({ length: BRANCHES_AT_ONCE - 1 }, (_, index) => index + 2);

/** Sends a message to several models, or several times to one model. Each answer is a branch, and all run at once (C8). */
export function AskSeveral({ leaf, beginsOpen }: { readonly leaf: string | null; readonly beginsOpen: boolean }) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const usual = useUsualModel();
  const [text, setText] = useState("");
  const [models, setModels] = useState<readonly string[]>([]);
  const [times, setTimes] = useState(3);
  const [isChoosing, setChoosing] = useState(false);
  const [problem, setProblem] = useState("");
  // The initial state stays until the user folds it: the first answer must not close it.
  const [isUnfolded, setUnfolded] = useState(beginsOpen);
  const isOne = models.length <= 1;
  const ask = () => {
    const command = {
      conversation,
      parts: [{ type: "text", text: text.trim() }],
      ...(leaf !== null && { at: leaf }),
      ...(models.length > 0 && { models: [...models] }),
      ...(isOne && { times }),
    } as const;
    setProblem("");
    page.connection.ask("branch.fan", command).then(
      ({ problems }) => {
        setText("");
        setProblem(problems.join(" "));
      },
      (error: unknown) => setProblem(errorMessage(error)),
    );
  };
  return (
    <details
      open={isUnfolded}
      onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}
      className="mb-3 rounded-md border border-hair"
    >
      <summary className="px-2 py-1.5 font-medium">{t("Ask several models")}</summary>
      <form
        className="flex flex-col gap-2 px-2 pb-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") ask();
        }}
      >
        <p className="text-soft text-xs">
          {t(
            "Send one message to several models, or several times to one model. Each answer is a branch. In a git repository, each branch gets its own copy of the files.",
          )}
        </p>
        <TextArea
          rows={2}
          dir="auto"
          value={text}
          aria-label={t("Message to each model")}
          onChange={({ target }) => setText(target.value)}
        />
        {models.length > 0 && (
          <ul aria-label={t("Models to ask")} className="flex flex-wrap gap-1">
            {models.map((name) => (
              <li key={name} className="inline-flex items-center rounded-md bg-sunken ps-2 text-xs">
                {name}
                <IconButton
                  isSmall
                  icon="close"
                  name={t("Remove {name}", { name })}
                  onClick={() => setModels(models.filter((other) => other !== name))}
                />
              </li>
            ))}
          </ul>
        )}
        <p className="flex flex-wrap items-center gap-2">
          {isOne && (
            <Select
              isSmall
              aria-label={t("How many times")}
              value={times}
              onChange={({ target }) => setTimes(Number(target.value))}
            >
              {TIMES.map((each) => (
                <option key={each} value={each}>
                  {t("{model}, {count} times", { model: models[0] ?? usual ?? "", count: each })}
                </option>
              ))}
            </Select>
          )}
          {models.length < BRANCHES_AT_ONCE && (
            <Button isSmall aria-expanded={isChoosing} onClick={() => setChoosing(!isChoosing)}>
              {t("Choose models")}
            </Button>
          )}
          <Button isSmall look="main" type="submit" disabled={text.trim() === ""}>
            {tCount(isOne ? times : models.length, "Start {count} branch", "Start {count} branches")}
          </Button>
        </p>
      </form>
      {problem !== "" && (
        <p role="alert" className="px-2 pb-2 text-warn text-xs">
          {problem}
        </p>
      )}
      {/* The picker contains a form, which cannot be inside another form. */}
      {isChoosing && (
        <div className="border-hair border-t">
          <ModelPicker
            used={models.at(-1) ?? ""}
            onChoose={(name) => {
              setChoosing(false);
              if (!models.includes(name)) setModels([...models, name]);
            }}
          />
        </div>
      )}
    </details>
  );
}
