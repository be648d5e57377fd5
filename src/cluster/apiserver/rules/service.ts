/** The rules of Services: defaults and addresses. Source: kubernetes pkg/apis/core/v1/defaults.go, pkg/registry/core/service. */
import { type FieldError, invalidField, requiredField } from '../field-errors.ts';
import { ensureObject, type JsonObject, numberAt, objectAt, objectsAt, setDefault, stringAt } from '../json.ts';
import type { TypeRules } from '../served-type.ts';

const FIRST_NODE_PORT = 30_000;

/** Builds the rules with their own address counters: one set a server. */
export function createServiceRules(): TypeRules {
  let addresses = 0;
  let nodePorts = 0;

  /** Addresses of 10.96.0.0/16, in order. */
  const nextAddress = (): string => {
    addresses++;
    return `10.96.${(addresses >> 8) & 255}.${addresses & 255}`;
  };

  return {
    applyDefaults(service) {
      const spec = ensureObject(service, 'spec');
      setDefault(spec, 'sessionAffinity', 'None');
      setDefault(spec, 'type', 'ClusterIP');
      for (const port of objectsAt(spec, 'ports')) {
        setDefault(port, 'protocol', 'TCP');
        const number = numberAt(port, 'port');
        if (number !== undefined && !port['targetPort']) port['targetPort'] = number;
      }
      const type = stringAt(spec, 'type');
      if (type !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster');
      if (type === 'NodePort' || type === 'LoadBalancer') setDefault(spec, 'externalTrafficPolicy', 'Cluster');
      if (type === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true);
    },
    prepareCreate(service) {
      const spec = ensureObject(service, 'spec');
      service['status'] = { loadBalancer: {} };
      const type = stringAt(spec, 'type');
      if (type === 'ExternalName') return;
      if (!spec['clusterIP']) spec['clusterIP'] = nextAddress();
      setDefault(spec, 'clusterIPs', [spec['clusterIP'] ?? '']);
      setDefault(spec, 'ipFamilies', ['IPv4']);
      setDefault(spec, 'ipFamilyPolicy', 'SingleStack');
      if (type === 'NodePort' || type === 'LoadBalancer')
        for (const port of objectsAt(spec, 'ports')) setDefault(port, 'nodePort', FIRST_NODE_PORT + nodePorts++);
    },
    prepareUpdate(service, old) {
      // Clients that replace a service without its address keep the one it has.
      const spec = ensureObject(service, 'spec');
      const before = objectAt(old, 'spec') ?? {};
      if (stringAt(spec, 'type') === 'ExternalName') return;
      for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
        const value = before[field];
        if (value !== undefined) setDefault(spec, field, value);
      }
    },
    validateCreate: (service) => validateService(objectAt(service, 'spec')),
    validateUpdate(service, old) {
      const errors = validateService(objectAt(service, 'spec'));
      const before = stringAt(old, 'spec', 'clusterIP');
      const after = stringAt(service, 'spec', 'clusterIP');
      if (before && before !== after && stringAt(service, 'spec', 'type') !== 'ExternalName')
        errors.push(invalidField('spec.clusterIPs[0]', [after ?? ''], 'may not change once set'));
      return errors;
    },
    validateStatusUpdate: () => [],
    selectableFields: {
      'spec.clusterIP': (service) => stringAt(service, 'spec', 'clusterIP') ?? '',
      'spec.type': (service) => stringAt(service, 'spec', 'type') ?? '',
    },
  };
}

function validateService(spec: JsonObject | undefined): FieldError[] {
  const ports = objectsAt(spec, 'ports');
  const headless = spec?.['clusterIP'] === 'None';
  const errors: FieldError[] = [];
  if (ports.length === 0 && !headless && spec?.['type'] !== 'ExternalName') errors.push(requiredField('spec.ports'));
  ports.forEach((port, index) => {
    const number = port['port'];
    if (typeof number !== 'number' || number < 1 || number > 65_535)
      errors.push(invalidField(`spec.ports[${index}].port`, number ?? 0, 'must be between 1 and 65535, inclusive'));
    if (ports.length > 1 && !port['name']) errors.push(requiredField(`spec.ports[${index}].name`));
  });
  return errors;
}
