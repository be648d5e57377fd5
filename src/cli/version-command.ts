/** `stowage version`: what is installed and what runs it. */
import { printLines } from './cli-context.ts';
import type { AddCommand } from './command-definition.ts';
import { exitCodes } from './exit-codes.ts';
import { DOCUMENT_VERSION, renderDocument } from './output.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

export const versionLine = (version: string): string =>
  `stowage ${version} (Node ${process.versions.node}, ${PLATFORM})`;

export const addVersionCommand: AddCommand = (program, register, { version }) => {
  const command = program
    .command('version')
    .description('Print the version of Stowage and of the Node that runs it.')
    .addHelpText('after', '\nExamples:\n  stowage version\n  stowage version -o json');
  register(command, async (context) => {
    const document = {
      apiVersion: DOCUMENT_VERSION,
      kind: 'Version',
      version,
      node: process.versions.node,
      platform: PLATFORM,
    } as const;
    const text = renderDocument(document, context.global.output);
    if (text !== undefined) context.io.out.write(text);
    else printLines(context, [versionLine(version)]);
    return exitCodes.ok;
  });
  return command;
};
