import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeObject, formatTime, type JsonObject, type ObjectSchema, StatusError } from '#machinery';
import type { ResourceStrategy } from './generic/strategy.ts';
import { BUILT_IN_GROUPS } from './groups.ts';

interface StoredWorkload {
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

const STRATEGIES = BUILT_IN_GROUPS.flatMap(({ strategies }) => strategies) as unknown as readonly ResourceStrategy<StoredWorkload>[];
const NOW = Date.parse('2024-01-01T00:00:00Z');
const SCOPE = { user: { name: 'someone', groups: [] }, now: NOW };

function strategyOf(resource: string, version = 'v1'): ResourceStrategy<StoredWorkload> {
  const strategy = STRATEGIES.find(({ kind }) => kind.resource === resource && kind.version === version);
  if (!strategy) throw new Error(`no strategy for ${resource}`);
  return strategy;
}

/** What a server does with a request to create, without admission and storage. Throws the Status that the client would get. */
function create(strategy: ResourceStrategy<StoredWorkload>, body: JsonObject): StoredWorkload {
  const decoded = decodeObject(strategy.kind as unknown as ObjectSchema, body).object as unknown as StoredWorkload;
  const filled = strategy.defaults?.(decoded) ?? decoded;
  const { status: _, ...rest } = filled;
  const metadata = { ...filled.metadata, namespace: 'ns', uid: 'u', creationTimestamp: formatTime(NOW), generation: 1 };
  const prepared = strategy.prepareForCreate?.({ ...rest, metadata }, SCOPE) ?? { ...rest, metadata };
  const errors = strategy.validate?.(prepared) ?? [];
  if (errors.length > 0) throw StatusError.invalid(strategy.kind, metadata.name, errors);
  return strategy.canonicalize?.(prepared) ?? prepared;
}

const container = { name: 'c', image: 'registry.example/app:1' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };

describe('pods', () => {
  const pods = strategyOf('pods');
  const pod = (spec: object, metadata: object = {}) =>
    create(pods, { metadata: { name: 'a', ...metadata }, spec: { containers: [container], ...spec } } as JsonObject);

  test('start pending, with a class of service, whatever status a client sent', () => {
    expect(pod({}).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(pod({ containers: [{ ...container, resources: { requests: { cpu: '1' } } }] }).status).toMatchObject({ qosClass: 'Burstable' });
  });

  test('behind gates say that they wait', () => {
    expect(pod({ schedulingGates: [{ name: 'a.b/c' }] }).status).toMatchObject({
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', lastTransitionTime: '2024-01-01T00:00:00Z' }],
    });
  });

  test('turn keys of their own labels into selectors', () => {
    const term = { topologyKey: 'zone', labelSelector: {}, matchLabelKeys: ['hash'], mismatchLabelKeys: ['tenant', 'none'] };
    const created = pod(
      {
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, matchLabelKeys: ['hash'] },
        ],
      },
      { labels: { hash: '1', tenant: 't' } },
    );
    const hash = { key: 'hash', operator: 'In', values: ['1'] };
    expect(created.spec).toMatchObject({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchExpressions: [hash, { key: 'tenant', operator: 'NotIn', values: ['t'] }] } },
          ],
        },
      },
      topologySpreadConstraints: [{ labelSelector: { matchExpressions: [hash] } }],
    });
  });

  test('turn AppArmor annotations into fields', () => {
    const created = pod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/p' } });
    expect(created.spec?.containers).toMatchObject([
      { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } } },
    ]);
  });

  test('lose fields that this version does not serve', () => {
    const created = pod({
      schedulingGroup: { podGroupName: 'g' },
      containers: [{ ...container, lifecycle: { stopSignal: 'SIGUSR1' } }],
      volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } }],
    });
    expect(created.spec).not.toHaveProperty('schedulingGroup');
    expect(created.spec?.containers).toMatchObject([{ name: 'c' }]);
    expect(JSON.stringify(created)).not.toMatch(/stopSignal|clusterTrustBundle|lifecycle/);
  });

  test('get a grace period only while they run somewhere', () => {
    const grace = (spec: object, phase: string, requested?: number) =>
      pods.gracePeriodSeconds?.({ metadata: { name: 'a' }, spec: spec as JsonObject, status: { phase } }, requested);
    expect(grace({ terminationGracePeriodSeconds: 30 }, 'Pending')).toBe(0);
    expect(grace({ terminationGracePeriodSeconds: 30, nodeName: 'n' }, 'Running')).toBe(30);
    expect(grace({ terminationGracePeriodSeconds: 30, nodeName: 'n' }, 'Running', 5)).toBe(5);
    expect(grace({ terminationGracePeriodSeconds: -5, nodeName: 'n' }, 'Running')).toBe(1);
    expect(grace({ terminationGracePeriodSeconds: 30, nodeName: 'n' }, 'Succeeded')).toBe(0);
  });

  test('keep in their status what a reporter of old does not know', () => {
    const old: StoredWorkload = {
      ...pod({}),
      status: {
        phase: 'Running',
        qosClass: 'BestEffort',
        observedGeneration: 3,
        conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }],
      },
    };
    const reported: StoredWorkload = {
      ...old,
      metadata: { ...old.metadata, ownerReferences: [] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    };
    const prepared = pods.prepareForStatusUpdate?.(reported, old, SCOPE);
    expect(prepared?.metadata).not.toHaveProperty('ownerReferences');
    expect(prepared?.status).toEqual({
      phase: 'Running',
      qosClass: 'BestEffort',
      observedGeneration: 3,
      conditions: [{ type: 'Ready', status: 'False', observedGeneration: 3 }],
    });
  });

  test('are changed through a subresource in that part alone', () => {
    const old = pod({ nodeSelector: { a: 'b' } });
    const sent: StoredWorkload = {
      ...old,
      metadata: { ...old.metadata, labels: { sneaky: 'yes' } },
      spec: { ...old.spec, nodeSelector: {}, ephemeralContainers: [{ name: 'e', image: 'x' }] },
    };
    const prepared = pods.subresources?.ephemeralcontainers?.prepareForUpdate(sent, old, SCOPE) as StoredWorkload;
    expect(prepared.metadata).toEqual({ ...old.metadata, generation: 2 });
    expect(prepared.spec).toEqual({ ...old.spec, ephemeralContainers: [{ name: 'e', image: 'x' }] });
  });

  test('are answered with upstream’s status when they are wrong', () => {
    try {
      pod({ containers: [{ name: 'X' }] });
      expect.unreachable();
    } catch (error) {
      expect((error as StatusError).status).toMatchObject({
        message: expect.stringMatching(
          /^Pod "a" is invalid: \[spec\.containers\[0\]\.name: Invalid value: "X": a lowercase RFC 1123 label .*, spec\.containers\[0\]\.image: Required value\]$/,
        ),
        reason: 'Invalid',
        code: 422,
        details: {
          name: 'a',
          kind: 'Pod',
          causes: [{ field: 'spec.containers[0].name' }, { field: 'spec.containers[0].image', reason: 'FieldValueRequired' }],
        },
      });
    }
  });
});

describe('jobs', () => {
  const jobs = strategyOf('jobs');

  const jobOf = (name: string, labels?: JsonObject) =>
    ({
      metadata: { name },
      spec: { template: { ...(labels && { metadata: { labels } }), spec: { restartPolicy: 'Never', containers: [container] } } },
    }) as JsonObject;

  test('have a name too long for a label rejected once for each label that is made of it', () => {
    const causes = (labels?: JsonObject) => {
      try {
        create(jobs, jobOf('a'.repeat(64), labels));
      } catch (error) {
        return (error as StatusError).status.details?.causes?.map(({ field }) => field);
      }
      return [];
    };
    expect(causes()).toEqual(['spec.template.labels', 'spec.template.labels']);
    expect(causes({ app: 'x' })).toEqual(['metadata.labels', 'metadata.labels', 'spec.template.labels', 'spec.template.labels']);
  });

  test('without labels of their own share those of their template, generated ones included', () => {
    const created = create(jobs, jobOf('a', { app: 'x' }));
    expect(created.metadata.labels).toMatchObject({ app: 'x', 'job-name': 'a', 'controller-uid': 'u' });
    expect(created.spec).toMatchObject({ template: { metadata: { labels: created.metadata.labels } } });
  });

  test('select their pods by their uid, and carry the labels of their pods', () => {
    const created = create(jobs, jobOf('a'));
    const labels = {
      'batch.kubernetes.io/controller-uid': 'u',
      'batch.kubernetes.io/job-name': 'a',
      'controller-uid': 'u',
      'job-name': 'a',
    };
    expect(created.spec).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      template: { metadata: { labels } },
    });
    expect(created.metadata.labels).toEqual(labels);
  });

  test('may select by hand', () => {
    const spec = {
      manualSelector: true,
      selector: { matchLabels: { app: 'a' } },
      template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
    };
    expect(create(jobs, { metadata: { name: 'a' }, spec } as JsonObject).spec?.selector).toEqual({ matchLabels: { app: 'a' } });
  });

  test('warn when they are deleted without a word about their pods', () => {
    const job: StoredWorkload = { metadata: { name: 'a' } };
    expect(jobs.deletionWarnings?.(job, {})).toHaveLength(1);
    expect(jobs.deletionWarnings?.(job, { propagationPolicy: 'Orphan' })).toEqual([]);
  });
});

describe('workloads of apps/v1', () => {
  const spec = { selector: { matchLabels: { app: 'a' } }, template };

  test('daemon sets count the changes of their template', () => {
    const strategy = strategyOf('daemonsets');
    const key = 'deprecated.daemonset.template.generation';
    const created = create(strategy, { metadata: { name: 'a' }, spec } as JsonObject);
    expect(created.metadata.annotations).toEqual({ [key]: '1' });
    const unchanged = strategy.prepareForUpdate?.({ ...created, metadata: { name: 'a' } }, created, SCOPE);
    expect(unchanged?.metadata.annotations).toEqual({ [key]: '1' });
    const changed = { ...created, spec: { ...created.spec, template: { ...template, metadata: { labels: { app: 'a', b: 'c' } } } } };
    expect(strategy.prepareForUpdate?.(changed as StoredWorkload, created, SCOPE).metadata.annotations).toEqual({ [key]: '2' });
  });

  test('deployments have a new generation when their annotations change', () => {
    const strategy = strategyOf('deployments');
    const created = create(strategy, { metadata: { name: 'a' }, spec } as JsonObject);
    const annotated = { ...created, metadata: { ...created.metadata, annotations: { x: 'y' } } };
    expect(strategy.prepareForUpdate?.(annotated, created, SCOPE).metadata.generation).toBe(2);
    expect(strategy.prepareForUpdate?.({ ...created }, created, SCOPE).metadata.generation).toBe(1);
  });

  test('stateful sets lose what is not served by default', () => {
    const created = create(strategyOf('statefulsets'), {
      metadata: { name: 'a' },
      spec: { ...spec, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } },
    } as JsonObject);
    expect(created.spec?.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } });
  });
});

test('every strategy prepares random objects without errors, and idempotently', () => {
  const scrap = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant({}), fc.constant([]), fc.constant([{}]));
  fc.assert(
    fc.property(fc.nat(STRATEGIES.length - 1), fc.array(scrap, { minLength: 60, maxLength: 60 }), (index, values) => {
      const strategy = STRATEGIES[index] as ResourceStrategy<StoredWorkload>;
      let next = 0;
      const body = arbitraryBody(strategy.kind as unknown as ObjectSchema, () => values[next++ % values.length], 0);
      const { object, error } = decodeObject(strategy.kind as unknown as ObjectSchema, { ...body, metadata: { name: 'a' } } as JsonObject);
      if (error !== undefined) return;
      const filled = strategy.defaults?.(object as unknown as StoredWorkload) ?? (object as unknown as StoredWorkload);
      expect(strategy.defaults?.(filled) ?? filled).toEqual(filled);
      const prepared = strategy.prepareForCreate?.(filled, SCOPE) ?? filled;
      strategy.validate?.(prepared).map(String);
      strategy.validateUpdate?.(prepared, filled).map(String);
      strategy.validateStatusUpdate?.(prepared, filled).map(String);
      strategy.warnings?.(prepared);
      strategy.table?.cells(prepared, NOW);
    }),
    { numRuns: 300 },
  );
});

/** An object of a schema's shape, some of its fields left out. */
function arbitraryBody(schema: ObjectSchema, draw: () => unknown, depth: number): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = draw();
    if (value === true || field.number === 0) continue;
    body[field.name] = arbitraryValue(field.schema, draw, depth + 1);
  }
  return body;
}

function arbitraryValue(schema: ObjectSchema['fields'][number]['schema'], draw: () => unknown, depth: number): unknown {
  const value = draw();
  switch (schema.type) {
    case 'object':
      return depth > 6 ? {} : arbitraryBody(schema, draw, depth);
    case 'list':
      return depth > 6 ? [] : [arbitraryValue(schema.items, draw, depth + 1)];
    case 'map':
      return { key: arbitraryValue(schema.values, draw, depth + 1) };
    case 'bool':
      return value === false;
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number' ? value : 1;
    case 'quantity':
      return typeof value === 'number' ? String(value) : '1Gi';
    case 'time':
    case 'microTime':
      return '2024-01-01T00:00:00Z';
    case 'intOrString':
      return typeof value === 'number' ? value : '10%';
    case 'any':
      return {};
    default:
      return typeof value === 'string' ? value : 'text';
  }
}
