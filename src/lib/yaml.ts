/**
 * One YAML document as data. A module of its own, so that who rarely needs the parser can import it when that happens.
 */
import { parse, YAMLParseError } from 'yaml';
import { StowageError } from './errors.ts';

/** The text is not YAML. The message says what is wrong and where, and quotes nothing: such texts hold credentials. */
export class InvalidYamlError extends StowageError {
  override readonly name = 'InvalidYamlError';

  constructor(message: string) {
    super('INVALID_YAML', message);
  }
}

/**
 * @throws InvalidYamlError for a text that is not YAML, holds more than one document, or refers to itself without end.
 */
export function parseYaml(text: string): unknown {
  try {
    // A warning, such as of a tag that nobody knows, would go past us to standard error.
    const value: unknown = parse(text, { logLevel: 'error' });
    refuseEndless(value);
    return value;
  } catch (error) {
    // The parser's own message goes on with the lines around the mistake; the error is not kept as the cause for that.
    if (error instanceof YAMLParseError) throw new InvalidYamlError(headOf(error.message));
    if (error instanceof ReferenceError) throw new InvalidYamlError(error.message);
    throw error;
  }
}

/**
 * What the parser made of a text is gone through here once: of an alias within what it stands for, as in `&a [*a]`, it
 * makes a value that holds itself, and whoever prints that or looks for its end fails in a way that is no problem of a file.
 * @throws ReferenceError where it holds itself.
 */
export function refuseEndless(root: unknown): void {
  const begun = new Set<object>();
  const ended = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || ended.has(value)) return;
    if (begun.has(value)) throw new ReferenceError('an alias stands within what it refers to, which has no end so');
    begun.add(value);
    for (const each of Object.values(value)) visit(each);
    begun.delete(value);
    ended.add(value);
  };
  visit(root);
}

/** What the parser lets out where a text is nested deeper than there is stack for. */
const TOO_DEEP = /Maximum call stack size exceeded|Invalid regular expression: .*: Stack overflow/;

/** The first line of a parser's message, without the colon that announces the quote. */
export function headOf(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '').replace(TOO_DEEP, 'nested too deep to be read');
}
