import { type OwnColors, readColors } from "./own-colors.ts";
import { colorNames, type Palette, palettes } from "./palette.ts";
import type { Scheme } from "./terminal-colors.ts";
import { type ColorDepth, schemeFrom } from "./terminal-colors.ts";
import { createTheme, type Theme } from "./theme.ts";

/** Named themes. Themes without a scheme adapt to the terminal's background. */
const NAMED: Readonly<Record<string, { readonly palette: Palette; readonly scheme?: Scheme }>> = {
  auto: { palette: palettes.usual },
  dark: { palette: palettes.usual, scheme: "dark" },
  light: { palette: palettes.usual, scheme: "light" },
  "high-contrast": { palette: palettes["high-contrast"] },
  "color-blind": { palette: palettes["color-blind"] },
};

/** Keeps the colours of a terminal: the user's theme, adapted to the terminal's background (T56). */
export class Colors {
  readonly #depth: ColorDepth;
  #background: Scheme;
  #chosen: Scheme | undefined;
  #palette: Palette = palettes.usual;
  #theme: Theme;

  constructor(depth: ColorDepth, env: NodeJS.ProcessEnv) {
    this.#depth = depth;
    this.#background = schemeFrom(env) ?? "dark";
    this.#theme = this.#created();
  }

  get theme(): Theme {
    return this.#theme;
  }

  heard(background: Scheme): void {
    this.#background = background;
    this.#theme = this.#created();
  }

  /** Uses a theme by name or file. Returns faults in the file, one sentence each. */
  use(theme: string): readonly string[] {
    const named = NAMED[theme];
    const own = named ? undefined : readColors(theme, Object.keys(NAMED));
    const { palette, scheme } = named ?? NAMED[own?.base ?? "auto"] ?? { palette: palettes.usual };
    this.#palette = own ? withOwn(palette, own.colors) : palette;
    this.#chosen = scheme;
    this.#theme = this.#created();
    return own?.problems ?? [];
  }

  #created(): Theme {
    return createTheme(this.#depth, this.#chosen ?? this.#background, this.#palette);
  }
}

/** The user's colours suit their own background. A terminal with 16 colours keeps the palette's colours. */
function withOwn(palette: Palette, colors: OwnColors["colors"]): Palette {
  const all = colorNames.map((name) => {
    const own = colors[name];
    return [name, own === undefined ? palette[name] : { ...palette[name], dark: own, light: own }];
  });
  return Object.fromEntries(all);
}
