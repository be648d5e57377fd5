/** What has to be undone at the end, in reverse order; each step is tried, whatever the others did. */
export interface Cleanup {
  defer(step: () => unknown): void;
  /** @throws the first failure, after all steps. Safe to call again: steps run once. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const steps: (() => unknown)[] = [];
  return {
    defer: (step) => void steps.push(step),
    async run() {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
