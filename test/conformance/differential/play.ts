/** Plays a sequence on a server, one request at a time, filling in what the server has answered before. */
import { type Answer, type Endpoint, type Json, type RawWatchEvent, RefusedWatch } from '../endpoint.ts';
import { type KnownVersions, type SeenAnswer, seenAnswer, seenEvents } from './seen-answer.ts';
import type { Step } from './step.ts';

export interface Player {
  /** @returns the answer to the step, to be compared. */
  play(step: Step): Promise<SeenAnswer>;
}

interface Known {
  readonly uid: string;
  readonly version: string;
  readonly before: string;
}

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const REFERENCE = /\{\{(\w+)(?: ([^}]+))?\}\}/g;

/** Remembers what one server has said in one sequence. */
export function createPlayer(endpoint: Endpoint): Player {
  const objects = new Map<string, Known>();
  const versions: KnownVersions = new Map();
  let [startVersion, listVersion, token] = ['1', '1', ''];

  const fill = (text: string): string =>
    text.replace(REFERENCE, (_, what: string, name = '') => {
      const known = objects.get(name);
      switch (what) {
        case 'rv':
          return known?.version ?? '1';
        case 'oldrv':
          return known?.before ?? '1';
        case 'uid':
          return known?.uid ?? '00000000-0000-4000-8000-000000000001';
        case 'startrv':
          return startVersion;
        case 'listrv':
          return listVersion;
        default:
          return token;
      }
    });

  const remember = (step: Step, { status, body }: Answer): void => {
    if (status > 299) return;
    const { kind, metadata } = body;
    if (!isMap(metadata) || kind === 'Table') return;
    const { resourceVersion: version, name, uid } = metadata;
    if (typeof version !== 'string') return;
    if (startVersion === '1') startVersion = version;
    if (Array.isArray(body['items'])) {
      listVersion = version;
      const { continue: next } = metadata;
      token = typeof next === 'string' ? next : '';
      return;
    }
    if (typeof name !== 'string' || typeof uid !== 'string' || step.path.includes('dryRun')) return;
    const known = objects.get(name);
    objects.set(name, { uid, version, before: known === undefined || known.version === version ? '1' : known.version });
  };

  return {
    async play(step) {
      const path = fill(step.path);
      if (step.isWatch === true) return watched(endpoint, path, versions);
      const { body, text, contentType, accept } = step;
      const answer = await endpoint.call(step.method, path, {
        ...(body === undefined ? {} : { text: fill(JSON.stringify(body)) }),
        ...(text === undefined ? {} : { text }),
        ...(contentType === undefined ? {} : { contentType }),
        ...(accept === undefined ? {} : { accept }),
      });
      remember(step, answer);
      return seenAnswer(answer, versions);
    },
  };
}

async function watched(endpoint: Endpoint, path: string, versions: KnownVersions): Promise<SeenAnswer> {
  const events: RawWatchEvent[] = [];
  try {
    for await (const event of endpoint.watch(path)) events.push(event);
  } catch (error) {
    if (error instanceof RefusedWatch) return seenAnswer(error.answer, versions);
    throw error;
  }
  return { status: 200, contentType: '', warnings: '', body: seenEvents(events) };
}
