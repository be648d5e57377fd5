/** A row of buttons that each filter a list, with how many it would leave. */
import { h } from './dom.ts';
import { count } from './format.ts';

export const NO_FILTER = 'all';

export interface FilterChoice {
  readonly name: string;
  readonly amount: number;
}

/** @param param what is filtered by. @param choose is given the value to ask for: empty for {@link NO_FILTER}. */
export function filterButtons(
  param: string,
  choices: readonly FilterChoice[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement[] {
  return choices.map(({ name, amount }) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(name === chosen),
        'data-key': `${param} ${name}`,
        onclick: () => choose(name === NO_FILTER ? '' : name),
      },
      name,
      h('span', { class: 'count' }, count(amount)),
    ),
  );
}
