import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at, type Cluster, itemsOf } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Answer } from './endpoint.ts';

const EVERYTHING = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const STREAMS = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
const AS_TABLE = 'application/json;as=Table;g=meta.k8s.io';
const AS_METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const AS_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const yamlOf = (text: string): unknown => parse(text);

describeOnBackends('forms of answers', (cluster) => {
  const one = async ({ namespace, must, post }: Cluster): Promise<{ path: string; list: string }> => {
    const { configMaps } = await namespace();
    const data = {
      number: '7',
      yes: 'yes',
      day: '2026-01-01',
      empty: '',
      lines: 'a\nb\n',
      long: 'word '.repeat(60),
      odd: '{}',
    };
    await must(post(configMaps, { metadata: { name: 'a', labels: { mine: 'yes' } }, data }));
    return { path: `${configMaps}/a`, list: `${configMaps}?labelSelector=mine` };
  };

  describe('YAML', () => {
    const yaml = { accept: 'application/yaml' };

    test('tells the same of an object and of a list', async () => {
      const { call, get } = cluster();
      const { path, list } = await one(cluster());
      const object = await call('GET', path, yaml);
      expect(object.headers['content-type']).toBe('application/yaml');
      expect(yamlOf(object.text)).toEqual((await get(path)).body);
      expect(object.text).toMatch(/^apiVersion: v1\ndata:\n {2}day: "2026-01-01"\n/);
      // To many who read it, without quotes it is true.
      expect(object.text).toContain('\n  "yes": "yes"\n');
      const { items } = (await get(list)).body;
      expect(yamlOf((await call('GET', list, yaml)).text)).toMatchObject({ kind: 'ConfigMapList', items });
    });

    test('answers a write, a deletion and a failure', async () => {
      const { call, namespace } = cluster();
      const { configMaps } = await namespace();
      const created = await call('POST', configMaps, { ...yaml, body: { metadata: { name: 'a' } } });
      expect(created.status).toBe(201);
      expect(yamlOf(created.text)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' } });
      const deleted = await call('DELETE', `${configMaps}/a`, yaml);
      expect(yamlOf(deleted.text)).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'a' } });
      const missing = await call('GET', `${configMaps}/a`, yaml);
      expect(missing.headers['content-type']).toBe('application/yaml');
      expect(yamlOf(missing.text)).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
    });

    test('is a form of discovery, but not of watches', async () => {
      const { call } = cluster();
      const { list } = await one(cluster());
      expect(yamlOf((await call('GET', '/api/v1', yaml)).text)).toMatchObject({ kind: 'APIResourceList' });
      expect(yamlOf((await call('GET', '/apis', yaml)).text)).toMatchObject({ kind: 'APIGroupList' });
      const watch = await call('GET', `${list}&watch=1`, yaml);
      expect(watch.status).toBe(406);
      expect(yamlOf(watch.text)).toMatchObject({
        reason: 'NotAcceptable',
        message: `only the following media types are accepted: ${STREAMS}`,
      });
    });

    test('as a body makes an object', async () => {
      const { call, namespace } = cluster();
      const { configMaps } = await namespace();
      const text = 'metadata:\n  name: a\ndata:\n  key: |\n    two\n    lines\n';
      const { status, body } = await call('POST', configMaps, { text, contentType: 'application/yaml' });
      expect([status, body['data']]).toEqual([201, { key: 'two\nlines\n' }]);
    });
  });

  describe('what is accepted', () => {
    test.each([['text/html'], ['application/xml, text/*'], ['application'], ['application/*'], ['*']])(
      '%s is of no route: 406, in JSON, and nothing is written',
      async (accept) => {
        const { call, get } = cluster();
        const { path, list } = await one(cluster());
        const message = `406: Not Acceptable\n\nAvailable representations: ${EVERYTHING}`;
        const refused = { kind: 'Status', apiVersion: 'v1', code: 406, reason: 'NotAcceptable', message };
        for (const method of ['GET', 'DELETE'])
          expect((await call(method, path, { accept })).body).toMatchObject(refused);
        expect((await call('GET', list, { accept })).body).toMatchObject({
          ...refused,
          message: `${message}, ${STREAMS}`,
        });
        expect((await get(path)).status).toBe(200);
      },
    );

    test.each([
      ['application/json;as=Nothing;g=meta.k8s.io;v=v1'],
      ['application/json;as=Table;g=example.com;v=v1'],
      ['application/json;as=Table;g=meta.k8s.io;v=v2'],
    ])('of %s nothing is served: 406, in JSON, and nothing is written', async (accept) => {
      const { call, get } = cluster();
      const { path, list } = await one(cluster());
      const message = `only the following media types are accepted: ${EVERYTHING}`;
      const refused = { kind: 'Status', apiVersion: 'v1', code: 406, reason: 'NotAcceptable', message };
      for (const each of [path, list]) expect((await call('GET', each, { accept })).body).toMatchObject(refused);
      expect((await call('DELETE', path, { accept })).body).toMatchObject(refused);
      expect((await get(path)).status).toBe(200);
    });

    test.each([
      ['*/*', 'application/json'],
      ['text/html, */*;q=0.1', 'application/json'],
      ['application/yaml, application/json', 'application/yaml'],
      ['application/yaml;q=0.5, application/json', 'application/json'],
      ['application/json;q=0.1, application/yaml;q=0.2', 'application/yaml'],
      ['*/*, application/yaml;q=0.1', 'application/yaml'],
      ['application/json;as=Odd, application/yaml', 'application/yaml'],
    ])('%s is answered in %s', async (accept, contentType) => {
      const { call } = cluster();
      const { path } = await one(cluster());
      const { status, headers } = await call('GET', path, { accept });
      expect([status, headers['content-type']]).toEqual([200, contentType]);
    });

    test('what is not there is told although its form is not served', async () => {
      const { call } = cluster();
      const { path } = await one(cluster());
      const accept = 'application/json;as=Nothing;g=meta.k8s.io;v=v1';
      expect((await call('GET', path.replace(/a$/, 'b'), { accept })).status).toBe(406);
      expect((await call('GET', '/api/v1/nothing', { accept: 'text/html' })).status).toBe(404);
    });
  });

  describe('tables and metadata', () => {
    test('come in the version asked for', async () => {
      const { call } = cluster();
      const { path, list } = await one(cluster());
      for (const version of ['v1', 'v1beta1']) {
        const apiVersion = `meta.k8s.io/${version}`;
        const { body } = await call('GET', list, { accept: `${AS_TABLE};v=${version}` });
        expect(body).toMatchObject({ kind: 'Table', apiVersion, rows: [{ cells: expect.arrayContaining(['a', 7]) }] });
        expect(at(body, 'rows', 0, 'object')).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion });
      }
      const partial = await call('GET', path, { accept: AS_METADATA });
      expect(partial.body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
      expect(itemsOf(await call('GET', list, { accept: AS_METADATA_LIST }))).toHaveLength(1);
    });

    test('come in YAML, too', async () => {
      const { call } = cluster();
      const { list } = await one(cluster());
      const { text } = await call('GET', list, { accept: `${AS_TABLE};v=v1`.replace('json', 'yaml') });
      expect(yamlOf(text)).toMatchObject({ kind: 'Table', rows: [{ cells: expect.arrayContaining(['a', 7]) }] });
    });

    test('one object is no list of metadata, and a list is no object', async () => {
      const { call } = cluster();
      const { path, list } = await one(cluster());
      const asked = async (where: string, accept: string): Promise<unknown> => {
        const { status, body } = await call('GET', where, { accept });
        return [status, body['message']];
      };
      expect(await asked(path, AS_METADATA_LIST)).toEqual([
        406,
        'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
      ]);
      expect(await asked(list, AS_METADATA)).toEqual([
        406,
        'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
      ]);
    });

    test('rows show the objects that are asked for', async () => {
      const { call } = cluster();
      const { path } = await one(cluster());
      const rows = (include: string) => call('GET', `${path}?includeObject=${include}`, { accept: `${AS_TABLE};v=v1` });
      expect(at((await rows('Object')).body, 'rows', 0, 'object', 'kind')).toBe('ConfigMap');
      expect(at((await rows('None')).body, 'rows', 0, 'object')).toBeNull();
      const odd = await rows('Some');
      expect([odd.status, odd.body['message']]).toEqual([
        400,
        `Unable to convert to Table as requested: includeObject: Invalid value: "Some": must be 'Metadata', 'Object', 'None', or empty`,
      ]);
    });
  });

  test('warnings come with failures, too, in any script', async () => {
    const { post, namespace, must } = cluster();
    const { configMaps } = await namespace();
    const body = { metadata: { name: 'a' }, 'größe→': 1 };
    const warningOf = async (answer: Promise<Answer>): Promise<unknown> => {
      const { status, headers } = await answer;
      return [status, Buffer.from(String(headers['warning']), 'latin1').toString()];
    };
    const warning = '299 - "unknown field \\"größe→\\""';
    expect(await warningOf(post(configMaps, body))).toEqual([201, warning]);
    expect(await warningOf(post(configMaps, body))).toEqual([409, warning]);
    await must(cluster().delete(`${configMaps}/a`));
  });

  test('JSON is indented for people', async () => {
    const { get } = cluster();
    const { path } = await one(cluster());
    expect((await get(path)).text).toMatch(/^\{"[^\n]*\n$/);
    for (const yes of ['true', '1', 'T']) expect((await get(`${path}?pretty=${yes}`)).text).toMatch(/^\{\n {2}"/);
    for (const no of ['false', '0', 'yes']) expect((await get(`${path}?pretty=${no}`)).text).toMatch(/^\{"/);
  });
});
