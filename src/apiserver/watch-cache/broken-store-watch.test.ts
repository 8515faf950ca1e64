import { expect, test } from 'vitest';
import { admissionregistration, apiextensions, core, rbac } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore, type Store } from '#store';
import { RbacAuthorizer } from '../authz/rbac/rbac-authorizer.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import type { ResourceStorage } from '../registry/generic/resource-storage.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const random = seededRandom('broken store watch');

/** A store whose watches stop when `cut`, and say so only at `end`. */
function breakable(store: Store) {
  const cuts: (() => void)[] = [];
  const ends: (() => void)[] = [];
  const watch: Store['watch'] = (options, sink) => {
    const handle = store.watch(options, sink);
    cuts.push(() => handle.cancel());
    ends.push(() => sink.end({ code: 'failed', error: new Error('broken') }));
    return handle;
  };
  const proxy = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'watch') return watch;
      const member = target[name];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const runAll = (steps: (() => void)[]) => {
    for (const step of steps.splice(0)) step();
  };
  return { store: proxy, cut: () => runAll(cuts), end: () => runAll(ends) };
}

async function start(store: Store): Promise<ApiServer> {
  const server = startApiServer(
    { version: { major: '1', minor: '36', gitVersion: 'v1.36.0' }, anonymousAuth: false, systemObjects: false },
    {
      store,
      clock: realClock,
      random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
      security: ({ table }) => {
        const of = (resource: string): ResourceStorage => table.storage('rbac.authorization.k8s.io', 'v1', resource);
        const authorizer = new RbacAuthorizer(() => ({
          roles: of('roles'),
          roleBindings: of('rolebindings'),
          clusterRoles: of('clusterroles'),
          clusterRoleBindings: of('clusterrolebindings'),
        }));
        const authorize: RbacAuthorizer['authorize'] = (attributes) =>
          attributes.user.groups.includes('system:masters') ? { verdict: 'allow', reason: '' } : authorizer.authorize(attributes);
        return {
          authenticators: [],
          authorizer: { authorize, rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace) },
          handlers: { verbs: {}, subresources: {} },
          paths: [],
          admission: [],
          start: () => authorizer.start(),
          allowsAnonymous: () => undefined,
          run: async () => {},
          reload: () => {},
          stop: async () => {},
        };
      },
    },
  );
  await server.ready;
  return server;
}

const clientOf = (server: ApiServer, name: string, groups: readonly string[]) =>
  new Client(inProcessTransport(server.handle, { name, groups }, { clock: realClock }), { fieldManager: 'test' });

const NAMES = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
const SCHEMA = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

test('changes of RBAC, CRDs and policies apply after the store watch broke', async () => {
  await using store = openMemoryStore({ clock: realClock });
  const broken = breakable(store);
  await using server = await start(broken.store);
  await using other = await start(store);
  const admin = clientOf(server, 'admin', ['system:masters']);
  const alice = clientOf(server, 'alice', ['system:authenticated']);
  await admin.of(core.Namespace).create({ metadata: { name: 'ns' } });
  await admin.of(core.ServiceAccount).create({ metadata: { name: 'default', namespace: 'ns' } });
  const api = { apiGroup: 'rbac.authorization.k8s.io' };
  await admin.of(rbac.Role).create({
    metadata: { name: 'reader', namespace: 'ns' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'list'] }],
  });
  await admin.of(rbac.RoleBinding).create({
    metadata: { name: 'alice', namespace: 'ns' },
    roleRef: { ...api, kind: 'Role', name: 'reader' },
    subjects: [{ ...api, kind: 'User', name: 'alice' }],
  });
  await admin.of(apiextensions.CustomResourceDefinition).create({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: NAMES,
      versions: [{ name: 'v1', served: true, storage: true, schema: SCHEMA }],
    },
  } as never);
  const widgets = () => admin.transport.request({ method: 'GET', path: '/apis/example.com/v1/widgets' });
  await expect.poll(widgets, { timeout: 10_000 }).toMatchObject({ kind: 'WidgetList' });
  await alice.of(core.ConfigMap).create({ metadata: { name: 'first', namespace: 'ns' } });

  broken.cut();
  const otherClient = clientOf(other, 'admin', ['system:masters']);
  await otherClient.of(rbac.RoleBinding).delete({ name: 'alice', namespace: 'ns' });
  await otherClient.of(apiextensions.CustomResourceDefinition).delete({ name: 'widgets.example.com' });
  await otherClient.of(admissionregistration.ValidatingAdmissionPolicy).create({
    metadata: { name: 'none' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
      validations: [{ expression: 'false', message: 'no config maps' }],
    },
  } as never);
  await otherClient.of(admissionregistration.ValidatingAdmissionPolicyBinding).create({
    metadata: { name: 'none' },
    spec: { policyName: 'none', validationActions: ['Deny'] },
  } as never);
  await expect
    .poll(
      () =>
        otherClient
          .of(apiextensions.CustomResourceDefinition)
          .list()
          .then(({ items }) => items.length),
      { timeout: 10_000 },
    )
    .toBe(0);
  broken.end();

  await expect(alice.of(core.ConfigMap).list({ namespace: 'ns' })).rejects.toMatchObject({ code: 403 });
  await expect(admin.of(core.ConfigMap).create({ metadata: { name: 'second', namespace: 'ns' } })).rejects.toThrow('no config maps');
  await expect.poll(() => widgets().catch((error: unknown) => error), { timeout: 10_000 }).toMatchObject({ code: 404 });
});
