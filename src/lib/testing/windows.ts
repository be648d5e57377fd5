/** Windows of schedules that tests are sure of, and what is wrong with the others. */
import { type DisruptionWindow, parseWindow, type WindowProblem } from '../schedule.ts';

/** @throws Error where the texts make no window. */
export function windowOf(schedule: string, duration: string): DisruptionWindow {
  const result = parseWindow(schedule, duration);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.window;
}

export function problemsOf(schedule: string, duration: string): readonly WindowProblem[] {
  const result = parseWindow(schedule, duration);
  return result.ok ? [] : result.problems;
}
