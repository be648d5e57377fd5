/** Keys that hold label selectors, in the file alone: no environment variable does. */
import * as z from 'zod';
import { validateLabelSelector } from '../api/label-selector.ts';
import type { ConfigKey, KeyTexts } from './config-key.ts';

/** `true` and `1` are no text in YAML, and label values are text. */
const labelText = z.string('must be text in quotes');
const requirement = z
  .strictObject({
    key: labelText,
    operator: labelText,
    values: z.array(labelText, 'must be a list').nullable().exactOptional(),
  })
  .transform(({ values, ...rest }) => ({ ...rest, ...(values && { values }) }));
/** Parts with nothing in them are absent, as in manifests. */
const labelSelector = z
  .strictObject({
    matchLabels: z.record(z.string(), labelText, 'must hold labels with values').nullable().exactOptional(),
    matchExpressions: z.array(requirement).nullable().exactOptional(),
  })
  .transform(({ matchLabels, matchExpressions }) => ({
    ...(matchLabels && { matchLabels }),
    ...(matchExpressions && { matchExpressions }),
  }));
/** As the API server's JSON: absent parts are absent. */
type ConfigSelector = z.output<typeof labelSelector>;

function checkSelector(value: ConfigSelector, context: z.RefinementCtx, mayBeEmpty: boolean): void {
  for (const problem of validateLabelSelector(value)) context.addIssue(`is not a valid selector: ${problem}`);
  const isEmpty = Object.keys(value.matchLabels ?? {}).length === 0 && (value.matchExpressions ?? []).length === 0;
  if (isEmpty && !mayBeEmpty) context.addIssue('has an empty selector, which would match every node');
}

const SELECTOR_ACCEPTED =
  'label selector with matchLabels (key: text) and matchExpressions (key, operator In, NotIn, Exists or DoesNotExist, values)';

/** A label selector that may be left out. */
export function optionalSelector(texts: KeyTexts): ConfigKey<ConfigSelector | undefined> {
  const schema = labelSelector.superRefine((value, context) => checkSelector(value, context, true)).optional();
  return {
    ...texts,
    leaf: true,
    schema,
    defaultValue: undefined,
    accepted: `a ${SELECTOR_ACCEPTED}`,
    fromText: () => undefined,
  };
}

/** A list of label selectors, any of which may match; none may be empty. */
export function selectors(texts: KeyTexts): ConfigKey<readonly ConfigSelector[]> {
  const entry = labelSelector.superRefine((value, context) => checkSelector(value, context, false));
  return {
    ...texts,
    leaf: true,
    schema: z.array(entry, 'is not a list'),
    defaultValue: [],
    accepted: `a list, each a ${SELECTOR_ACCEPTED}`,
    fromText: () => undefined,
  };
}
