import { describe, expect, test } from 'vitest';
import { decodeObject, type JsonObject, type JsonValue, type ObjectSchema, parseJson } from '#machinery';
import { apiextensions, apps, certificates, coordination, core, type Kind, meta, metricsV1beta1, policy } from './index.ts';

const decode = (schema: ObjectSchema, value: JsonValue) => decodeObject(schema, value);
const read = (schema: ObjectSchema, text: string) => {
  const { value, written } = parseJson(text);
  return decodeObject(schema, value, { written });
};
const canonical = (schema: ObjectSchema, value: JsonValue) => {
  const { object, error } = decode(schema, value);
  expect(error).toBeUndefined();
  return object;
};
const deployment = (spec: JsonValue): JsonObject => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec });
const pod = (spec: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec });
const container = (rest: JsonObject): JsonObject => pod({ containers: [{ name: 'c', ...rest }] });

describe('a wrong type is reported in the words of the API', () => {
  const into = (field: string, type: string) => `into Go struct field ${field} of type ${type}`;
  const cases: [string, Kind<unknown>, JsonObject, string][] = [
    ['a number in a map of strings', core.ConfigMap, { data: { a: 1 } }, `number ${into('ConfigMap.data', 'string')}`],
    ['a string for a map', core.ConfigMap, { data: 'x' }, `string ${into('ConfigMap.data', 'map[string]string')}`],
    ['a bool label', core.ConfigMap, { metadata: { labels: { a: true } } }, `bool ${into('ObjectMeta.metadata.labels', 'string')}`],
    ['a string for a bool', core.ConfigMap, { immutable: 'yes' }, `string ${into('ConfigMap.immutable', 'bool')}`],
    ['a string for metadata', core.ConfigMap, { metadata: 'x' }, `string ${into('ConfigMap.metadata', 'v1.ObjectMeta')}`],
    ['a string for an int', apps.Deployment, deployment({ replicas: '3' }), `string ${into('DeploymentSpec.spec.replicas', 'int32')}`],
    [
      'an int out of range',
      apps.Deployment,
      deployment({ replicas: 3_000_000_000 }),
      `number 3000000000 ${into('DeploymentSpec.spec.replicas', 'int32')}`,
    ],
    [
      'a fraction for an int',
      apps.Deployment,
      deployment({ replicas: 1.5 }),
      `number 1.5 ${into('DeploymentSpec.spec.replicas', 'int32')}`,
    ],
    [
      'a list for an object',
      apps.Deployment,
      deployment({ selector: [] }),
      `array ${into('DeploymentSpec.spec.selector', 'v1.LabelSelector')}`,
    ],
    ['a string for an object', apps.Deployment, deployment('x'), `string ${into('Deployment.spec', 'v1.DeploymentSpec')}`],
    [
      'an object for an int-or-string',
      apps.Deployment,
      deployment({ strategy: { rollingUpdate: { maxSurge: {} } } }),
      `object ${into('RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge', 'int32')}`,
    ],
    ['an object for a list', core.Pod, pod({ containers: {} }), `object ${into('PodSpec.spec.containers', '[]v1.Container')}`],
    ['a string item for an object', core.Pod, pod({ containers: ['x'] }), `string ${into('PodSpec.spec.containers', 'v1.Container')}`],
    [
      'a field of an embedded type',
      core.Pod,
      pod({ containers: [], volumes: [{ name: 'v', hostPath: 1 }] }),
      `number ${into('Volume.spec.volumes.VolumeSource.hostPath', 'v1.HostPathVolumeSource')}`,
    ],
    [
      'a number for a string with a type of its own',
      core.Pod,
      container({ imagePullPolicy: 1 }),
      `number ${into('Container.spec.containers.imagePullPolicy', 'v1.PullPolicy')}`,
    ],
    [
      'an item of such a type',
      core.Pod,
      container({ securityContext: { capabilities: { add: [true] } } }),
      `bool ${into('Capabilities.spec.containers.securityContext.capabilities.add', 'v1.Capability')}`,
    ],
    [
      'a list of such a type',
      core.Namespace,
      { spec: { finalizers: 'x' } },
      `string ${into('NamespaceSpec.spec.finalizers', '[]v1.FinalizerName')}`,
    ],
    ['a uid', core.Pod, { metadata: { uid: {} } }, `object ${into('ObjectMeta.metadata.uid', 'types.UID')}`],
    [
      'a list with a type of its own',
      certificates.CertificateSigningRequest,
      { spec: { extra: { a: 'x' } } },
      `string ${into('CertificateSigningRequestSpec.spec.extra', 'v1.ExtraValue')}`,
    ],
    [
      'a map of times',
      policy.PodDisruptionBudget,
      { status: { disruptedPods: [] } },
      `array ${into('PodDisruptionBudgetStatus.status.disruptedPods', 'map[string]v1.Time')}`,
    ],
    [
      'a number for a time',
      core.Pod,
      { metadata: { creationTimestamp: 5 } },
      `number ${into('ObjectMeta.metadata.creationTimestamp', 'string')}`,
    ],
    [
      'an int64 out of range',
      core.Pod,
      { metadata: { generation: 2n ** 63n } },
      `number 9223372036854775808 ${into('ObjectMeta.metadata.generation', 'int64')}`,
    ],
  ];
  test.each(cases)('%s', (_, kind, value, expected) => {
    expect(decode(kind, value).error).toBe(`json: cannot unmarshal ${expected}`);
  });

  test('a value that is no object at all', () => {
    expect(decode(core.Pod, 'x').error).toBe('json: cannot unmarshal string into Go value of type v1.Pod');
    expect(decode(core.Pod, null).error).toBe('json: cannot unmarshal null into Go value of type v1.Pod');
  });

  const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  test.each([
    ['lots', FORMAT],
    ['1gb', FORMAT],
    [true, FORMAT],
    [{ a: 1 }, FORMAT],
  ])('a quantity of %j', (cpu, expected) => {
    expect(decode(core.Pod, container({ resources: { limits: { cpu } } })).error).toBe(expected);
  });

  test('a time that does not parse', () => {
    const lease = (renewTime: string) => decode(coordination.Lease, { spec: { renewTime } }).error;
    const layout = '"2006-01-02T15:04:05.000000Z07:00"';
    expect(lease('now')).toBe(`parsing time "now" as ${layout}: cannot parse "now" as "2006"`);
    expect(lease('2026-01-01T00:00:00Z')).toBe(`parsing time "2026-01-01T00:00:00Z" as ${layout}: cannot parse "Z" as ".000000"`);
  });

  test('a duration that does not parse', () => {
    const node = (window: JsonValue) => decode(metricsV1beta1.NodeMetrics, { window });
    expect(node('soon').error).toBe('time: invalid duration "soon"');
    expect(node(5).error).toBe('json: cannot unmarshal number into Go struct field NodeMetrics.window of type string');
    expect(node('90s').object).toMatchObject({ window: '1m30s' });
  });

  test('base64 that is not', () => {
    expect(decode(core.Secret, { data: { a: '***' } }).error).toBe('illegal base64 data at input byte 0');
    expect(decode(core.Secret, { data: { a: 'YWJ' } }).error).toBe('illegal base64 data at input byte 0');
    expect(decode(core.Secret, { data: { a: 'YWJj=' } }).error).toBe('illegal base64 data at input byte 4');
  });

  test('bytes may be written as a list of numbers', () => {
    const secret = (data: JsonValue) => decode(core.Secret, { data: { a: data } });
    expect(secret([]).object).toMatchObject({ data: { a: '' } });
    expect(secret([104, 105, null]).object).toMatchObject({ data: { a: 'aGkA' } });
    expect(secret([1, 'x', 256]).error).toBe('json: cannot unmarshal string into Go struct field Secret.data of type uint8');
    expect(secret([256]).error).toBe('json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8');
  });

  test('the first mismatch is reported, unless a type with a reading of its own fails later', () => {
    expect(decode(core.Pod, { metadata: { name: 5, namespace: 6 } }).error).toContain('ObjectMeta.metadata.name');
    expect(decode(core.Pod, { metadata: { name: 5, creationTimestamp: 'x' } }).error).toContain('parsing time "x"');
  });
});

describe('unknown and duplicate fields are listed with their path', () => {
  test('unknown fields, in document order, and they are dropped', () => {
    const { object, problems, error } = decode(core.Pod, { frob: 1, ...container({ nope: { deeper: 1 } }) });
    expect(error).toBeUndefined();
    expect(problems).toEqual(['unknown field "frob"', 'unknown field "spec.containers[0].nope"']);
    expect(JSON.stringify(object)).not.toMatch(/nope|frob/);
  });

  test('field names are case-sensitive', () => {
    const { problems } = decode(core.ConfigMap, { apiversion: 'v1', Kind: 'ConfigMap', metadata: { NAME: 'd' } });
    expect(problems).toEqual(['unknown field "apiversion"', 'unknown field "Kind"', 'unknown field "metadata.NAME"']);
  });

  test('keys of maps are part of the path', () => {
    const properties = { spec: { type: 'object', properties: { a: { type: 'string', nope: 1 } } } };
    const crd = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties } } }] }, frob: 1 };
    expect(decode(apiextensions.CustomResourceDefinition, crd).problems).toEqual([
      'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.nope"',
      'unknown field "frob"',
    ]);
  });

  test('schemas in items and additionalProperties are decoded on their own: unknown fields there go without saying', () => {
    const schema = { type: 'array', items: { type: 'string', nope: 1 }, additionalProperties: { nope: 1, type: 'integer' } };
    const { object, problems } = decode(apiextensions.JSONSchemaProps, schema);
    expect(problems).toEqual([]);
    expect(object).toEqual({ type: 'array', items: { type: 'string' }, additionalProperties: { type: 'integer' } });
  });

  test('duplicates that the schema knows are listed where they are repeated, others are not', () => {
    const text = '{"data":{"a":"1","a":"2"},"nope":{"x":1,"x":2},"metadata":{"name":"a","x":1,"name":"b"},"data":{},"nope":1}';
    expect(read(core.ConfigMap, text).problems).toEqual([
      'duplicate field "data.a"',
      'unknown field "nope"',
      'unknown field "metadata.x"',
      'duplicate field "metadata.name"',
      'duplicate field "data"',
    ]);
  });

  test('a problem that repeats itself is listed once', () => {
    const text = '{"spec":{"containers":[{"name":"a","nope":1,"name":"b","name":"c"}]},"spec":{"containers":[{"nope":1}]}}';
    expect(read(core.Pod, text).problems).toEqual([
      'unknown field "spec.containers[0].nope"',
      'duplicate field "spec.containers[0].name"',
      'duplicate field "spec"',
    ]);
  });

  test('at most a hundred are listed', () => {
    const value = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x${i}`, 1]));
    expect(decode(core.ConfigMap, value).problems).toHaveLength(100);
  });
});

describe('a key that stands twice is decoded twice, the later value into the earlier', () => {
  const spec = (text: string) => read(core.Pod, `{"spec":${text}}`).object.spec;

  test.each([
    ['maps gain keys, and a key that they share is replaced', '{"data":{"a":"1","b":"1"},"data":{"b":"2"}}', { data: { a: '1', b: '2' } }],
    ['objects gain fields', '{"metadata":{"name":"a"},"metadata":{"namespace":"n"}}', { metadata: { name: 'a', namespace: 'n' } }],
    ['null takes a map away', '{"data":{"a":"1"},"data":null}', {}],
    [
      'null leaves an object and a scalar as they are',
      '{"metadata":{"name":"a","name":null},"metadata":null}',
      { metadata: { name: 'a' } },
    ],
    ['null takes the value of a pointer away', '{"immutable":true,"immutable":null}', {}],
    ['an empty value replaces one that is there', '{"metadata":{"name":"a","name":""}}', { metadata: {} }],
    ['keys of the prototype are data', '{"data":{"__proto__":"1"},"data":{"a":"2"}}', JSON.parse('{"data":{"__proto__":"1","a":"2"}}')],
  ])('%s', (_, text, expected) => {
    expect(read(core.ConfigMap, text).object).toEqual({ metadata: {}, ...expected });
  });

  test('the items of a list are laid over those in their place, and the later list says how many there are', () => {
    const text = '{"containers":[{"name":"a","image":"i"},{"name":"b"}],"containers":[{"image":"j","ports":[]}]}';
    expect(spec(text)).toEqual({ containers: [{ name: 'a', image: 'j', resources: {} }] });
  });

  test('the values of a map begin anew', () => {
    const text = '{"overhead":{"cpu":"1"},"overhead":{"memory":"1","memory":2},"containers":null}';
    expect(spec(text)).toEqual({ overhead: { cpu: '1', memory: '2' }, containers: null });
  });

  test('as often as there is room for, without costing its square', () => {
    const text = Array.from({ length: 150_000 }, (_, i) => `"data":{"k${i}":"v"}`).join();
    const { object, problems } = read(core.ConfigMap, `{${text}}`);
    expect(Object.keys(object.data ?? {})).toHaveLength(150_000);
    expect(problems).toEqual(['duplicate field "data"']);
  });

  test('a value of a wrong type is an error, though a good one follows', () => {
    expect(read(core.ConfigMap, '{"data":5,"data":{}}').error).toContain('cannot unmarshal number into Go struct field ConfigMap.data');
  });
});

describe('numbers are judged by how they are written', () => {
  const replicas = (text: string) => read(apps.Deployment, `{"spec":{"replicas":${text}}}`);

  test.each(['1.0', '1.50', '1e3', '1E0', '-1.0', '0.0', '0.00000001', '12345678901.0', '3000000000', '-2147483649'])(
    '%s is no 32-bit integer, and is quoted as it is',
    (text) => {
      expect(replicas(text).error).toBe(
        `json: cannot unmarshal number ${text} into Go struct field DeploymentSpec.spec.replicas of type int32`,
      );
    },
  );

  test('-0 is', () => {
    expect(replicas('-0').error).toBeUndefined();
    expect(replicas('-0').object.spec).toMatchObject({ replicas: -0 });
  });

  test('in lists and for an int-or-string too', () => {
    const list = '{"spec":{"securityContext":{"supplementalGroups":[1,2.0]}}}';
    const field = 'PodSecurityContext.spec.securityContext.supplementalGroups';
    expect(read(core.Pod, list).error).toBe(`json: cannot unmarshal number 2.0 into Go struct field ${field} of type int64`);
    expect(read(core.Service, '{"spec":{"ports":[{"targetPort":8e1}]}}').error).toBe(
      'json: cannot unmarshal number 8e1 into Go struct field ServicePort.spec.ports.targetPort of type int32',
    );
  });

  test('a quantity keeps the form and the digits of its number', () => {
    const text = '{"metadata":{},"spec":{"containers":null,"overhead":{"a":1e3,"b":1.50,"c":0.10000000000000000001}}}';
    expect(read(core.Pod, text).object.spec).toMatchObject({ overhead: { a: '1e3', b: '1500m', c: '100000001n' } });
  });
});

describe('the canonical object', () => {
  test('leaves out nulls and zero values, and shows what is always shown', () => {
    const value = {
      ...container({ image: '', ports: [], stdin: false, resources: null, terminationMessagePath: null }),
      metadata: { name: 'a', creationTimestamp: null, labels: {}, generation: 0 },
      status: null,
    };
    expect(canonical(core.Pod, value)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c', resources: {} }] },
      status: {},
    });
  });

  test('shows lists, maps and times that nobody set as null where they are always shown', () => {
    expect(canonical(core.PodCondition, { type: 'Ready' })).toEqual({
      type: 'Ready',
      status: '',
      lastProbeTime: null,
      lastTransitionTime: null,
    });
    expect(canonical(apps.Deployment, deployment({}))).toEqual({
      ...deployment({ selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} }),
      status: {},
    });
  });

  test('keeps explicit zeros of pointers', () => {
    expect(canonical(apps.DeploymentSpec, { replicas: 0, paused: false })).toMatchObject({ replicas: 0 });
    expect(canonical(apps.DeploymentSpec, { replicas: 0, paused: false })).not.toHaveProperty('paused');
  });

  test('reads null items as zero values', () => {
    expect(canonical(core.PodSpec, { containers: [null] })).toEqual({ containers: [{ name: '', resources: {} }] });
    expect(canonical(core.ConfigMap, { data: { a: null } })).toMatchObject({ data: { a: '' } });
    expect(canonical(core.Secret, { data: { a: null } })).toMatchObject({ data: { a: '' } });
  });

  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05Z'],
    ['2024-02-29T23:59:59-01:30', '2024-03-01T01:29:59Z'],
    ['0001-01-01T00:00:00Z', undefined],
  ])('writes the time %s as %s', (creationTimestamp, expected) => {
    expect(canonical(meta.ObjectMeta, { creationTimestamp }).creationTimestamp).toBe(expected);
  });

  test('has no time where the zero time was set', () => {
    expect(canonical(meta.ObjectMeta, { deletionTimestamp: '0001-01-01T00:00:00Z' })).toEqual({});
    expect(canonical(core.ContainerStateRunning, { startedAt: '0001-01-01T00:00:00Z' })).toEqual({ startedAt: null });
  });

  test('writes micro times with six digits, in UTC', () => {
    const spec = canonical(coordination.LeaseSpec, { renewTime: '2026-01-02T03:04:05.000006+01:00' });
    expect(spec.renewTime).toBe('2026-01-02T02:04:05.000006Z');
  });

  test.each([
    ['1000m', '1'],
    [0.5, '500m'],
    [' 1 ', '1'],
    ['1024Mi', '1Gi'],
    [2, '2'],
    ['100m', '100m'],
  ])('writes the quantity %j as %s', (cpu, expected) => {
    const object = canonical(core.ResourceRequirements, { limits: { cpu } });
    expect(object).toEqual({ limits: { cpu: expected } });
  });

  test('writes base64 without line breaks and stray bits', () => {
    expect(canonical(core.Secret, { data: { a: 'YW\nJj', b: 'YX==', c: '' } })).toMatchObject({ data: { a: 'YWJj', b: 'YQ==', c: '' } });
  });

  test('keeps int64 exact', () => {
    expect(canonical(meta.ObjectMeta, { generation: 9_223_372_036_854_775_807n }).generation).toBe(9_223_372_036_854_775_807n);
    expect(canonical(meta.ObjectMeta, { generation: 5n }).generation).toBe(5);
  });

  test('is the input itself when that is canonical', () => {
    const value = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
    expect(decode(core.ConfigMap, value).object).toBe(value);
  });

  test('shares what is canonical and leaves the input alone', () => {
    const value = Object.freeze({ metadata: Object.freeze({ name: 'a', labels: Object.freeze({}) }), data: Object.freeze({ a: 'b' }) });
    const { object } = decode(core.ConfigMap, value);
    expect(object.data).toBe(value.data);
    expect(object.metadata).toEqual({ name: 'a' });
    expect(value.metadata.labels).toEqual({});
  });

  test('keys like __proto__ are plain data', () => {
    const value = JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y","b":null},"__proto__":{"z":1}}');
    const { object, problems } = decode(core.ConfigMap, value);
    expect(problems).toEqual(['unknown field "__proto__"']);
    expect(JSON.stringify(object)).toBe('{"metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y","b":""}}');
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });

  test('a schema nested beyond reason is an error, not an overflow', () => {
    let nested: JsonObject = {};
    for (let i = 0; i < 5000; i++) nested = { not: nested };
    expect(decode(apiextensions.JSONSchemaProps, nested).error).toBe('exceeded max depth');
  });
});
