/**
 * `node scripts/api-types.ts`: writes what the embedded API server knows of built-in types, from the Go structs of the Kubernetes version that the tests run
 * (test/controlplane/kubernetes/go.mod; in Go's module cache once that was built). Fields, their types, and how they merge; no texts.
 * What a field's text means stands in src/cluster/apiserver/schema/built-in-types.ts.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const goMod = readFileSync(join(root, 'test/controlplane/kubernetes/go.mod'), 'utf8');
const version = /k8s\.io\/api => k8s\.io\/api (\S+)/.exec(goMod)?.[1];
if (version === undefined) throw new Error('go.mod names no version of k8s.io/api');
const cache = process.env['GOMODCACHE'] ?? join(process.env['GOPATH'] ?? join(homedir(), 'go'), 'pkg/mod');
const moduleOf = (name: string): string => join(cache, 'k8s.io', `${name}@${version}`);

/** Where structs stand, by the import paths of Go. */
const folders: Readonly<Record<string, string>> = {
  'k8s.io/apimachinery/pkg/apis/meta/v1': join(moduleOf('apimachinery'), 'pkg/apis/meta/v1'),
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1': join(
    moduleOf('apiextensions-apiserver'),
    'pkg/apis/apiextensions/v1',
  ),
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1': join(
    moduleOf('kube-aggregator'),
    'pkg/apis/apiregistration/v1',
  ),
};

/** What is served, `folder kinds`. */
const served: readonly (readonly [string, string])[] = [
  [
    'k8s.io/api/core/v1',
    'Pod Node Namespace Service ConfigMap Secret PersistentVolume PersistentVolumeClaim ServiceAccount Endpoints LimitRange ResourceQuota ReplicationController Event Binding',
  ],
  ['k8s.io/api/apps/v1', 'Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision'],
  ['k8s.io/api/policy/v1', 'PodDisruptionBudget Eviction'],
  ['k8s.io/api/coordination/v1', 'Lease'],
  ['k8s.io/api/events/v1', 'Event'],
  ['k8s.io/api/batch/v1', 'Job CronJob'],
  ['k8s.io/api/autoscaling/v1', 'HorizontalPodAutoscaler Scale'],
  ['k8s.io/api/autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['k8s.io/api/rbac/v1', 'Role RoleBinding ClusterRole ClusterRoleBinding'],
  ['k8s.io/api/scheduling/v1', 'PriorityClass'],
  ['k8s.io/api/storage/v1', 'StorageClass CSINode'],
  ['k8s.io/api/discovery/v1', 'EndpointSlice'],
  ['k8s.io/api/networking/v1', 'NetworkPolicy Ingress'],
  [
    'k8s.io/api/admissionregistration/v1',
    'MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
  ],
  ['k8s.io/api/authentication/v1', 'TokenReview SelfSubjectReview'],
  [
    'k8s.io/api/authorization/v1',
    'SubjectAccessReview SelfSubjectAccessReview LocalSubjectAccessReview SelfSubjectRulesReview',
  ],
  ['k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1', 'CustomResourceDefinition'],
  ['k8s.io/kube-aggregator/pkg/apis/apiregistration/v1', 'APIService'],
  ['k8s.io/apimachinery/pkg/apis/meta/v1', 'DeleteOptions'],
];

/** Types with a text form of their own. */
const OWN_FORM: Readonly<Record<string, string>> = {
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'any',
  'meta/v1.Time': 'time',
  'meta/v1.MicroTime': 'microTime',
  'meta/v1.Duration': 'duration',
  'meta/v1.FieldsV1': 'any',
  'apiextensions/v1.JSON': 'any',
  'apiextensions/v1.JSONSchemaPropsOrBool': 'any',
  'apiextensions/v1.JSONSchemaPropsOrArray': 'any',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': 'any',
};
const SCALARS = new Set(['string', 'bool', 'int', 'int32', 'int64', 'float64', 'byte']);

interface Declaration {
  readonly body: string;
  readonly markers: string;
  readonly imports: ReadonlyMap<string, string>;
}

const shortOf = (path: string): string => path.split('/').slice(-2).join('/');
const declarations = new Map<string, ReadonlyMap<string, Declaration>>();

function declarationsOf(path: string): ReadonlyMap<string, Declaration> {
  const known = declarations.get(path);
  if (known !== undefined) return known;
  const folder = folders[path] ?? join(moduleOf('api'), path.slice('k8s.io/api/'.length));
  const found = new Map<string, Declaration>();
  for (const file of globSync('*.go', { cwd: folder })) {
    if (/^zz_|_test|generated/.test(file)) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    const imports = new Map<string, string>();
    for (const [, alias, imported = ''] of text.matchAll(/^(?:\s+|import )(\w+)? ?"([^"]+)"$/gm))
      imports.set(alias ?? imported.split('/').at(-1) ?? '', imported);
    for (const [, comments = '', name = '', body = ''] of text.matchAll(
      /((?:^\/\/.*\n)*)^type (\w+) (struct \{\n[\s\S]*?^\}|struct \{\}|.+$)/gm,
    ))
      found.set(name, { body, markers: comments, imports });
  }
  declarations.set(path, found);
  return found;
}

const types: Record<string, Record<string, string>> = {};

/** The text of a Go type as the embedded server reads it; notes the structs it meets. */
function textOf(goType: string, path: string, imports: ReadonlyMap<string, string>): string {
  if (goType.startsWith('*')) return `*${textOf(goType.slice(1), path, imports)}`;
  if (goType === '[]byte') return 'bytes';
  if (goType.startsWith('[]')) return `[]${textOf(goType.slice(2), path, imports)}`;
  const map = /^map\[(\w+(?:\.\w+)?)\](.+)$/.exec(goType);
  if (map !== null) return `{}${textOf(map[2] ?? '', path, imports)}`;
  if (SCALARS.has(goType)) return goType;
  const [alias, name] = goType.includes('.') ? goType.split('.') : ['', goType];
  const where = alias === '' ? path : (imports.get(alias ?? '') ?? '');
  const qualified = where.endsWith('/api/resource')
    ? 'resource.Quantity'
    : where.endsWith('/intstr')
      ? 'intstr.IntOrString'
      : where.endsWith('pkg/runtime')
        ? `runtime.${name}`
        : where.endsWith('pkg/types')
          ? 'string'
          : `${shortOf(where)}.${name}`;
  if (qualified === 'string') return 'string';
  const own = OWN_FORM[qualified];
  if (own !== undefined) return own;
  const declaration = declarationsOf(where).get(name ?? '');
  if (declaration === undefined) throw new Error(`no type ${goType} in ${where} (from ${path})`);
  if (declaration.body.startsWith('struct')) {
    noteStruct(qualified, where, declaration);
    return qualified;
  }
  const base = textOf(declaration.body.trim(), where, declaration.imports);
  return `${qualified.split('/').at(-1)}=${base}`;
}

function flagsOf(comments: string, tag: string): string {
  const marker = (name: string): string | undefined => new RegExp(`\\+${name}=(\\S+)`).exec(comments)?.[1];
  const keys = [...comments.matchAll(/\+listMapKey=(\S+)/g)].map(([, key]) => key);
  const list = marker('listType');
  const flags: string[] = [];
  if (/json:"[^"]*,omitzero/.test(tag)) flags.push('z');
  else if (/json:"[^"]*,omitempty/.test(tag)) flags.push('o');
  if (list === 'set') flags.push('set');
  if (list === 'map') flags.push(`keys=${keys.join(',')}`);
  if (marker('mapType') === 'atomic' || marker('structType') === 'atomic') flags.push('atomic');
  const strategy = /patchStrategy:"([^"]*)"/.exec(tag)?.[1] ?? '';
  const mergeKey = /patchMergeKey:"([^"]*)"/.exec(tag)?.[1];
  if (strategy.includes('merge')) flags.push(mergeKey === undefined ? 'merge' : `merge=${mergeKey}`);
  if (strategy.includes('replace')) flags.push('replace');
  if (strategy.includes('retainKeys')) flags.push('retainKeys');
  const number = numberOf(tag);
  if (number !== undefined) flags.push(`#${number}`);
  return flags.join(' ');
}

/** In protobuf. */
function numberOf(tag: string): string | undefined {
  return /protobuf:"\w+,(\d+)/.exec(tag)?.[1];
}

function noteStruct(qualified: string, path: string, { body, markers, imports }: Declaration): void {
  if (types[qualified] !== undefined) return;
  const fields: Record<string, string> = {};
  types[qualified] = fields;
  if (/\+structType=atomic/.test(markers)) fields[''] = 'atomic';
  Object.assign(fields, fieldsOf(body, path, imports));
}

function fieldsOf(body: string, path: string, imports: ReadonlyMap<string, string>): Record<string, string> {
  const fields: Record<string, string> = {};
  let comments = '';
  for (const line of body.split('\n').slice(1)) {
    const trimmed = line.trim();
    if (trimmed.startsWith('//')) {
      comments += `${trimmed}\n`;
      continue;
    }
    if (trimmed === '') comments = '';
    const field = /^(?:(\w+)\s+)?([^\s`]+)\s*`(.*)`/.exec(trimmed);
    if (field === null) continue;
    const [, name, goType = '', tag = ''] = field;
    const json = /json:"([^",]*)/.exec(tag)?.[1] ?? '';
    if (json === '' && name === undefined) Object.assign(fields, embedded(goType, numberOf(tag), path, imports));
    else if (json !== '-')
      fields[json || (name ?? '')] = `${textOf(goType, path, imports)} ${flagsOf(comments, tag)}`.trim();
    comments = '';
  }
  return fields;
}

/** Fields of a struct that is part of another without a name of its own; in protobuf it has a number, or is not there. */
function embedded(
  goType: string,
  number: string | undefined,
  path: string,
  imports: ReadonlyMap<string, string>,
): Record<string, string> {
  const [alias, name = ''] = goType.includes('.') ? goType.split('.') : ['', goType];
  const where = alias === '' ? path : (imports.get(alias ?? '') ?? '');
  const declaration = declarationsOf(where).get(name);
  if (declaration === undefined) throw new Error(`no embedded type ${goType} in ${where}`);
  const fields = fieldsOf(declaration.body, where, declaration.imports);
  return Object.fromEntries(
    Object.entries(fields).map(([field, text]) => [
      field,
      number === undefined ? text.replace(/ #\S+$/, '') : text.replace(/ #(\S+)$/, ` #${number}.$1`),
    ]),
  );
}

for (const [path, kinds] of served) for (const kind of kinds.split(' ')) textOf(kind, path, new Map());

const sorted = Object.fromEntries(
  Object.keys(types)
    .sort()
    .map((name) => [name, types[name]]),
);
const lines = JSON.stringify(sorted).replaceAll('},"', '},\n"');
writeFileSync(join(root, 'src/cluster/apiserver/schema/built-in-types.json'), `${lines}\n`);
console.log(`${Object.keys(types).length} types of k8s.io/api ${version}, ${lines.length} bytes`);
