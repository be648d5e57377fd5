/** From a file, or the name of a scenario of the library, to a checked scenario; or to every reason why it is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseYamlSource, type YamlSource } from '../../config/yaml-source.ts';
import { ConfigError, describeFileError } from '../../lib/errors.ts';
import { describeIssue, type ScenarioIssue } from './describe-issue.ts';
import { type Scenario, scenarioSchema } from './schema.ts';

export interface LoadedScenario {
  readonly scenario: Scenario;
  /** Folder that paths in the scenario are relative to. */
  readonly folder: string;
}

/** The build puts the library beside the compiled code. */
const library = new URL(import.meta.url.endsWith('.ts') ? '../scenarios/' : './scenarios/', import.meta.url);

/** Names of the scenarios that come with Stowage. */
export function libraryNames(): string[] {
  return readdirSync(library)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.replace(/\.yaml$/, ''))
    .sort();
}

/**
 * Reads a scenario. A file of that name wins over the library.
 * @throws ConfigError that says every problem with its place, or which names there are.
 */
export function loadScenario(fileOrName: string): LoadedScenario {
  const isKnown = !existsSync(fileOrName) && libraryNames().includes(fileOrName);
  const path = isKnown ? new URL(`${fileOrName}.yaml`, library) : fileOrName;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const names = libraryNames().join(', ');
    throw new ConfigError([
      `there is no scenario ${fileOrName}: ${describeFileError(error)}, nor is it one of the library (${names})`,
    ]);
  }
  const folder = isKnown ? '.' : dirname(fileOrName);
  return { scenario: parseScenario(text, isKnown ? `${fileOrName}.yaml` : fileOrName), folder };
}

/** @throws ConfigError listing every problem with file, line and key. */
export function parseScenario(text: string, fileName: string): Scenario {
  const source = parseYamlSource(text, fileName, 'scenario');
  const parsed = scenarioSchema.safeParse(source.root, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => problemOf(issue, source, fileName)));
}

function problemOf(issue: ScenarioIssue, source: YamlSource, fileName: string): string {
  const path = issue.path.map(String);
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const line = source.lineOf(unknown === undefined ? path : [...path, unknown]);
  const where = path.reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : `${text}.${part}`), '');
  const place = where === '' ? '' : ` ${where.replace(/^\./, '')}:`;
  return `${fileName}${line === undefined ? '' : `:${line}`}:${place} ${describeIssue(issue)}`;
}
