/** What is in force where nothing else is said, and the policies of rightsizing with what they came to. */
import type { PoliciesAnswer, PolicyTold } from '../answers.ts';
import { ask } from './api.ts';
import { conditionIsWell } from './condition-is-well.ts';
import { fill, h } from './dom.ts';
import { bytes, cores, count, counted } from './format.ts';
import type { Page } from './page.ts';
import { badge, card, empty } from './parts.ts';

export function policiesPage(): Page {
  const content = h('div', { class: 'stack' });
  return {
    title: 'Policies',
    element: h('div', { class: 'page' }, h('h1', { tabindex: '-1' }, 'Policies'), content),
    show() {},
    async refresh(signal) {
      const { engines, placementDefaults, policies, omitted, isLeader } = await ask<PoliciesAnswer>(
        'policies',
        undefined,
        signal,
      );
      fill(
        content,
        card(
          'Placement, where annotations say nothing else',
          engines.placement
            ? h(
                'dl',
                { class: 'facts' },
                placementDefaults.map(({ name, value }) => [h('dt', {}, name), h('dd', {}, value)]),
              )
            : empty('Placement is off (engines.placement).'),
        ),
        h('h2', {}, 'OptimizationPolicies'),
        !engines.rightsizing && empty('Rightsizing is off (engines.rightsizing).'),
        engines.rightsizing && policies.length === 0 && empty('There is none. docs/rightsizing.md has a first one.'),
        engines.rightsizing &&
          !isLeader &&
          h(
            'p',
            { class: 'notice' },
            'Only the leader looks at workloads; this replica knows the policies, not what they came to.',
          ),
        policies.map(policyCard),
        omitted > 0 &&
          h('p', { class: 'muted' }, `${counted(omitted, 'lighter one')} ${omitted === 1 ? 'is' : 'are'} not shown.`),
      );
    },
  };
}

function policyCard({
  namespace,
  name,
  group,
  deleting,
  problems,
  mode,
  weight,
  strategy,
  provider,
  window,
  owned,
  results,
  saving,
  conditions,
}: PolicyTold): HTMLElement {
  return card(
    `${namespace}/${name}`,
    h(
      'p',
      { class: 'badges' },
      mode !== undefined && badge(mode, mode === 'Auto' ? 'good' : mode === 'Recommend' ? 'info' : 'muted'),
      deleting && badge('being deleted', 'muted'),
      conditions.map(({ type, status, reason, message }) =>
        badge(`${type}: ${status}`, conditionIsWell({ type, status }) ? 'good' : 'warn', `${reason}: ${message}`),
      ),
    ),
    problems.length > 0 &&
      h(
        'ul',
        { class: 'notes bad' },
        problems.map((problem) => h('li', {}, problem)),
      ),
    h(
      'dl',
      { class: 'facts' },
      [
        ['Group', group],
        ['Weight', weight],
        ['Method', strategy],
        ['Usage from', provider],
        ['Window', window ?? (mode === undefined ? undefined : 'always open')],
        [
          'Workloads',
          Object.entries(results).length === 0
            ? counted(owned, 'workload')
            : `${counted(owned, 'workload')}: ${Object.entries(results)
                .map(([result, amount]) => `${count(amount)} ${result}`)
                .join(', ')}`,
        ],
        ['Advice frees', `${cores(saving.cpuMillis)} and ${bytes(saving.memoryBytes)} of memory`],
      ].map(([term, value]) => value !== undefined && [h('dt', {}, term), h('dd', {}, value)]),
    ),
    conditions
      .filter(({ type, status }) => !conditionIsWell({ type, status }))
      .map(({ type, reason, message }) => h('p', { class: 'muted' }, `${type}: ${reason}: ${message}`)),
  );
}
