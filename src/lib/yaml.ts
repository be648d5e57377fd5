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
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    // The parser's own message goes on with the lines around the mistake; the error is not kept as the cause for that.
    if (error instanceof YAMLParseError) throw new InvalidYamlError(headOf(error.message));
    if (error instanceof ReferenceError) throw new InvalidYamlError(error.message);
    throw error;
  }
}

/** What the parser lets out where a text is nested deeper than there is stack for. */
const TOO_DEEP = /Maximum call stack size exceeded|Invalid regular expression: .*: Stack overflow/;

/** The first line of a parser's message, without the colon that announces the quote. */
export function headOf(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '').replace(TOO_DEEP, 'nested too deep to be read');
}
