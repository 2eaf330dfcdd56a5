import type { ReactNode } from "react";
import { Button, type ButtonLook, IconButton } from "./button.tsx";
import { Select, TextArea, TextField } from "./field.tsx";
import { ICONS, Icon } from "./icon.tsx";
import { Notice, Tag, type Tone } from "./notice.tsx";

const LOOKS: readonly ButtonLook[] = ["main", "plain", "quiet", "bad"];
const TONES: readonly Tone[] = ["plain", "good", "warn", "bad"];

const GROUNDS = [
  "bg-ground",
  "bg-raised",
  "bg-surface",
  "bg-sunken",
  "bg-leaf-ground",
  "bg-warn-ground",
  "bg-bad-ground",
];
const INKS = ["text-ink", "text-soft", "text-leaf", "text-warn", "text-bad"];
const LETTERS = ["text-xs", "text-sm", "text-base", "text-read", "text-lg", "text-xl", "text-2xl"];

/** Shows every component in every state, made from the page's own components, for developers (W79). */
export function Gallery() {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-6 py-6 max-md:pt-14">
      <div className="mx-auto flex max-w-4xl flex-col gap-8">
        <h1 className="font-semibold text-2xl">Parts of the page</h1>
        <Part name="Colours">
          {GROUNDS.map((ground) => (
            <div key={ground} className={`rounded-lg border border-hair p-3 ${ground}`}>
              <p className="font-mono text-xs">{ground}</p>
              {INKS.map((ink) => (
                <p key={ink} className={`text-sm ${ink}`}>
                  {ink}
                </p>
              ))}
            </div>
          ))}
        </Part>
        <Part name="Letters">
          <div className="flex flex-col gap-1">
            {LETTERS.map((size) => (
              <p key={size} className={size}>
                {size}: the quick brown fox jumps over the lazy dog
              </p>
            ))}
          </div>
        </Part>
        <Part name="Buttons">
          {LOOKS.map((look) => (
            <div key={look} className="flex flex-wrap items-center gap-2">
              <Button look={look}>Button, {look}</Button>
              <Button look={look} isSmall>
                Small
              </Button>
              <Button look={look} icon="new">
                With an icon
              </Button>
              <Button look={look} disabled>
                Disabled
              </Button>
              <IconButton look={look} name={`Icon button, ${look}`} icon="send" />
              <IconButton look={look} isSmall isRound name={`Small icon button, ${look}`} icon="edit" />
              <IconButton look={look} name={`Disabled icon button, ${look}`} icon="stop" disabled />
              <IconButton look={look} name={`Pressed icon button, ${look}`} icon="pin" aria-pressed />
            </div>
          ))}
        </Part>
        <Part name="Fields">
          <TextField aria-label="Text field" placeholder="Text field" />
          <TextField aria-label="Small text field" isSmall defaultValue="written" />
          <TextField aria-label="Text field for code" isCode defaultValue="npm test" />
          <TextField aria-label="Disabled text field" disabled defaultValue="closed" />
          <TextArea aria-label="Text area" placeholder="Text area" />
          <TextArea aria-label="Text area for code" isCode defaultValue={'{\n  "command": "npm test"\n}'} />
          <Select aria-label="Choice">
            <option>Choice</option>
          </Select>
          <Select aria-label="Small choice" isSmall>
            <option>Small</option>
          </Select>
          <Select aria-label="Quiet choice" isQuiet>
            <option>Quiet</option>
          </Select>
        </Part>
        <Part name="Cards">
          {TONES.map((tone) => (
            <Notice
              key={tone}
              tone={tone}
              head={`What happened, ${tone}`}
              ways={
                <>
                  <Button look="main">Go on</Button>
                  <Button>Another way</Button>
                </>
              }
            >
              Why, in a sentence, and what can be done about it.
            </Notice>
          ))}
        </Part>
        <Part name="Tags">
          <div className="flex flex-wrap gap-2">
            {TONES.map((tone) => (
              <Tag key={tone} tone={tone}>
                {tone}
              </Tag>
            ))}
          </div>
        </Part>
        <Part name="Pictures">
          <ul className="flex flex-wrap gap-4">
            {ICONS.map((icon) => (
              <li key={icon} className="flex items-center gap-1.5 text-soft text-xs">
                <Icon of={icon} isLarge />
                {icon}
              </li>
            ))}
          </ul>
        </Part>
      </div>
    </div>
  );
}

function Part({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section aria-label={name} className="flex flex-col gap-3">
      <h2 className="border-hair border-b pb-1 font-semibold text-lg">{name}</h2>
      <div className="grid gap-3 sm:grid-cols-[repeat(auto-fill,minmax(18rem,1fr))]">{children}</div>
    </section>
  );
}
