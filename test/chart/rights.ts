/** Rights as data: what roles grant one by one, what a run really asked for, and roles with one right less. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessLog } from '../../src/cluster/apiserver/access-log.ts';
import { type Manifest, objectsOf, root } from './render.ts';

/** One verb on one resource, granted by one role. */
export interface Grant {
  /** Kind, namespace where it has one, and name of the role. */
  readonly role: string;
  /** `verb group/resource`, the core group being empty. */
  readonly right: string;
}

/** A call that one right allows, as the API server is asked about it. */
export interface GrantedCall extends Grant {
  readonly attributes: {
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
    readonly verb: string;
    /** Empty: everywhere. */
    readonly namespace: string;
    readonly name: string;
  };
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Accounts, roles and bindings of files of the repository. */
export function readRights(...paths: readonly string[]): readonly Manifest[] {
  return paths
    .flatMap((path) => objectsOf(readFileSync(join(root, path), 'utf8')))
    .filter(({ kind }) => /^(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?)$/.test(kind ?? ''));
}

/** Those that a service account holds by the bindings among the objects; the account's `namespace/name`. */
export function rightsOf(objects: readonly Manifest[], account: string): readonly Manifest[] {
  const bindings = objects.filter(
    ({ kind, subjects }) => kind?.endsWith('Binding') === true && accountsOf(subjects).includes(account),
  );
  const held = new Set(
    bindings.map(({ roleRef, metadata }) => {
      const { kind, name } = roleRef as { readonly kind: string; readonly name: string };
      return roleName(kind, kind === 'Role' ? metadata?.namespace : undefined, name);
    }),
  );
  const roles = objects.filter(({ kind = '', metadata }) =>
    held.has(roleName(kind, kind === 'Role' ? metadata?.namespace : undefined, metadata?.name ?? '')),
  );
  return [...roles, ...bindings];
}

function accountsOf(subjects: unknown): readonly string[] {
  return Array.isArray(subjects) ? subjects.map(({ namespace, name }) => `${namespace}/${name}`) : [];
}

const nameOf = (kind: string, metadata: Manifest['metadata']): string =>
  roleName(kind, metadata?.namespace, metadata?.name ?? '');
const roleName = (kind: string, namespace: string | undefined, name: string): string =>
  [kind, namespace, name].filter((part) => part !== undefined).join(' ');

/** Those about resources. */
function rulesOf({ rules }: Manifest): readonly Rule[] {
  return Array.isArray(rules) ? rules.filter((rule) => 'resources' in rule) : [];
}

const rightsIn = ({ apiGroups, resources, verbs }: Rule): string[] =>
  apiGroups.flatMap((group) => resources.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${name}`)));

/** Every right once per role that grants it. */
export function grantsOf(objects: readonly Manifest[]): readonly Grant[] {
  return objects.flatMap((object) => {
    const role = nameOf(object.kind ?? '', object.metadata);
    return [...new Set(rulesOf(object).flatMap(rightsIn))].map((right) => ({ role, right }));
  });
}

/** One for each of {@link grantsOf}. */
export function callsOf(objects: readonly Manifest[]): readonly GrantedCall[] {
  return grantsOf(objects).map((grant) => {
    const object = objects.find(({ kind = '', metadata }) => nameOf(kind, metadata) === grant.role);
    const rule = rulesOf(object ?? {}).find((each) => rightsIn(each).includes(grant.right));
    const [verb = '', path = ''] = grant.right.split(' ');
    const [group = '', resource = '', subresource = ''] = path.split('/');
    const [name = ''] = rule?.resourceNames ?? [];
    return {
      ...grant,
      attributes: { group, resource, subresource, verb, namespace: object?.metadata?.namespace ?? '', name },
    };
  });
}

/** The same objects, but the role lacks the right. */
export function without(objects: readonly Manifest[], grant: Grant): readonly Manifest[] {
  return objects.map((object) => {
    if (nameOf(object.kind ?? '', object.metadata) !== grant.role) return object;
    return { ...object, rules: rulesOf(object).flatMap((rule) => splitRule(rule, grant.right)) };
  });
}

/** One rule a verb and resource, but for the one that goes. */
function splitRule(rule: Rule, right: string): Rule[] {
  return rule.apiGroups
    .flatMap((group) => rule.resources.flatMap((name) => rule.verbs.map((verb) => [group, name, verb] as const)))
    .filter(([group, name, verb]) => `${verb} ${group}/${name}` !== right)
    .map(([group, name, verb]) => ({ ...rule, apiGroups: [group], resources: [name], verbs: [verb] }));
}

/** Every right a user made use of, or tried to. */
export function usedBy(log: AccessLog, user: string): ReadonlySet<string> {
  const own = log.entries().filter((access) => access.user === user);
  return new Set(
    own.map(
      ({ verb, group, resource, subresource }) =>
        `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`,
    ),
  );
}
