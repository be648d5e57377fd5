/** A bar on a terminal while a simulation runs; nothing in a pipe. */
import type { Terminal } from '../cli-context.ts';

export interface Progress {
  /** @param done 0..1 */
  show(done: number): void;
  /** Takes the bar away. */
  end(): void;
}

const BAR_WIDTH = 30;
const CLEAR_LINE = '\r\u001b[2K';

export function createProgress(terminal: Terminal, title: string): Progress {
  let shown = -1;
  return {
    show(done) {
      const percent = Math.floor(done * 100);
      if (!terminal.isTerminal || percent === shown) return;
      shown = percent;
      const filled = Math.round(done * BAR_WIDTH);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
      terminal.write(`${CLEAR_LINE}${title} ${bar} ${percent} %`);
    },
    end() {
      if (shown >= 0) terminal.write(CLEAR_LINE);
    },
  };
}
