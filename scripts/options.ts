/** Options of the commands for developers: `--help` tells them, and a wrong one gets one line. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

/** Ends the process after `--help` (exit code 0), and where an option is unknown or lacks its value (exit code 2). */
export function readOptions<const O extends Options>(usage: string, options: O): Values<O> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`Usage: ${usage}`);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\nUsage: ${usage}`);
    process.exit(2);
  }
}
