import { type OwnColors, readColors } from "./own-colors.ts";
import { colorNames, type Palette, palettes, type Scheme } from "./palette.ts";
import { type ColorDepth, schemeFrom } from "./terminal-colors.ts";
import { createTheme, type Theme } from "./theme.ts";

/** The themes that have a name. `auto` and those of a palette are for the background that the terminal has. */
const NAMED: Readonly<Record<string, { readonly palette: Palette; readonly scheme?: Scheme }>> = {
  auto: { palette: palettes.usual },
  dark: { palette: palettes.usual, scheme: "dark" },
  light: { palette: palettes.usual, scheme: "light" },
  "high-contrast": { palette: palettes["high-contrast"] },
  "color-blind": { palette: palettes["color-blind"] },
};

/** The colours of a terminal: what its person chose, on the background that it has (T56). */
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

  /** The terminal says what its background is. */
  heard(background: Scheme): void {
    this.#background = background;
    this.#theme = this.#created();
  }

  /** Takes the theme of a name, or of a file; returns what is wrong with the file, a sentence for each. */
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

/** A colour that a person chose is for their own background. Of the terminal's 16 colours that of the palette stays. */
function withOwn(palette: Palette, colors: OwnColors["colors"]): Palette {
  const all = colorNames.map((name) => {
    const own = colors[name];
    return [name, own === undefined ? palette[name] : { ...palette[name], dark: own, light: own }];
  });
  return Object.fromEntries(all);
}
