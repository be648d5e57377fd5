/** What only sidecars (`restartPolicy: Always`) among the init containers may have. Source: `validateInitContainers`. */
import { type FieldError, forbiddenField, invalidField } from '../field-errors.ts';
import { type JsonObject, objectsAt } from '../json.ts';
import { validateProbes } from './probe-validation.ts';

const SIDECARS_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

export function validateInitContainer(container: JsonObject, path: string): FieldError[] {
  if (container['restartPolicy'] === 'Always') return validateProbes(container, path);
  const forbidden = SIDECARS_ONLY.filter((field) => container[field] !== undefined && container[field] !== null).map(
    (field) => forbiddenField(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
  );
  const restarting = objectsAt(container, 'resizePolicy').flatMap(({ restartPolicy }, index) =>
    restartPolicy === 'RestartContainer'
      ? [
          invalidField(
            `${path}.resizePolicy[${index}].restartPolicy`,
            restartPolicy,
            "must not be set to 'RestartContainer' for non-sidecar initContainers",
          ),
        ]
      : [],
  );
  return [...forbidden, ...restarting];
}
