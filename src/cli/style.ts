/** Colours by meaning, so that no command chooses a colour; off in pipes, with NO_COLOR and with --no-color. */
import { styleText } from 'node:util';

const formats = {
  heading: 'bold',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  muted: 'dim',
  spot: 'cyan',
  onDemand: 'magenta',
} as const;

export type StyleName = keyof typeof formats;
/** Gives `text` the look of `name`. */
export type Style = (name: StyleName, text: string) => string;

export const plainStyle: Style = (_name, text) => text;

export const colourStyle: Style = (name, text) =>
  text === '' ? text : styleText(formats[name], text, { validateStream: false });

export interface ColourChoice {
  readonly isTerminal: boolean;
  /** `--no-color` was given. */
  readonly disabled: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The style to print with. NO_COLOR (any non-empty value, https://no-color.org) and `--no-color` win over FORCE_COLOR,
 * which wins over what the output is.
 */
export function chooseStyle({ isTerminal, disabled, env }: ColourChoice): Style {
  if (disabled || (env['NO_COLOR'] ?? '') !== '') return plainStyle;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced === '0' || forced === 'false' ? plainStyle : colourStyle;
  return isTerminal && env['TERM'] !== 'dumb' ? colourStyle : plainStyle;
}
