/** Loading a configuration given as text, for tests. */
import { ConfigError } from '../../lib/errors.ts';
import type { Environment } from '../environment.ts';
import { type LoadedConfig, loadConfig } from '../load.ts';
import type { Config } from '../schema.ts';

export const load = (text = '', env: Environment = {}): LoadedConfig =>
  loadConfig({ text, fileName: 'config.yaml', env });
export const configOf = (text = '', env: Environment = {}): Config => load(text, env).config;

/** What the error says; empty when the text is fine. */
export function problemsOf(text: string, env: Environment = {}): readonly string[] {
  try {
    load(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
