import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authentication, authorization, certificates, rbac } from '#api';
import { createCertificateRequest, newPrivateKey, silentLogger } from '#base';
import type { Client } from '#client';
import { reconcileRbac } from './authz/rbac/reconcile-rbac.ts';
import { api, ISSUER, startSecureServer } from './security.test-setup.ts';

const secure = await startSecureServer();
const { admin, clientFor, grant } = secure;
afterAll(() => secure[Symbol.asyncDispose]());

describe('privilege escalation', () => {
  const configMapRule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  const write = ['create', 'update', 'patch', 'get'];
  const bob = { ...api, kind: 'User', name: 'bob' };
  const role = (name: string, rules: readonly rbac.PolicyRule[]) => ({ metadata: { name, namespace: 'ns' }, rules });
  const binding = (name: string, to: string) => ({
    metadata: { name, namespace: 'ns' },
    roleRef: { ...api, kind: 'Role', name: to },
    subjects: [bob],
  });
  let writer: Client;

  beforeAll(async () => {
    const rules = [
      configMapRule,
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings', 'clusterroles'], verbs: write },
    ];
    await grant('writers', rules, { ...api, kind: 'User', name: 'wendy' });
    writer = clientFor('wendy');
    await admin.of(rbac.Role).create(role('big', [secrets]));
  });

  it('a role can only grant permissions that its writer has', async () => {
    const created = await writer.of(rbac.Role).create(role('small', [configMapRule]));
    await expect(writer.of(rbac.Role).create(role('large', [configMapRule, secrets]))).rejects.toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "large" is forbidden: user "wendy" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    });
    await expect(writer.of(rbac.Role).update({ ...created, rules: [secrets] })).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.Role).patch(created.metadata, { rules: [secrets] })).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.Role).apply(role('large', [secrets]), { fieldManager: 'x' })).rejects.toMatchObject({ code: 403 });
  });

  it('changes of metadata for garbage collection are allowed', async () => {
    const big = await writer.of(rbac.Role).get({ name: 'big', namespace: 'ns' });
    const updated = await writer.of(rbac.Role).update({ ...big, metadata: { ...big.metadata, finalizers: ['example.com/x'] } });
    expect(updated.metadata.finalizers).toEqual(['example.com/x']);
  });

  it('a binding needs the permissions of the role, or the verb bind', async () => {
    await expect(writer.of(rbac.RoleBinding).create(binding('b', 'big'))).rejects.toMatchObject({ code: 403 });
    await expect(writer.of(rbac.RoleBinding).create(binding('b', 'nosuch'))).rejects.toMatchObject({ code: 404 });
    await writer.of(rbac.RoleBinding).create(binding('small', 'small'));
    await grant('binders', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'], resourceNames: ['big'] }], {
      ...api,
      kind: 'User',
      name: 'wendy',
    });
    expect((await writer.of(rbac.RoleBinding).create(binding('b', 'big'))).metadata.name).toBe('b');
  });

  it('aggregation rules need all permissions', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    await expect(writer.of(rbac.ClusterRole).create({ metadata: { name: 'sum' }, rules: [], aggregationRule })).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('must have cluster-admin privileges to use the aggregationRule'),
    });
    await grant('escalators', [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['escalate'] }], {
      ...api,
      kind: 'User',
      name: 'wendy',
    });
    await writer.of(rbac.ClusterRole).create({ metadata: { name: 'sum' }, rules: [secrets], aggregationRule });
  });
});

describe('access reviews', () => {
  const allowed = async (spec: object) => (await admin.of(authorization.SubjectAccessReview).create({ spec } as never)).status;

  it('follow roles and bindings as they come and go', async () => {
    const question = { user: 'newcomer', resourceAttributes: { verb: 'get', resource: 'nodes' } };
    expect(await allowed(question)).toEqual({ allowed: false });
    await grant('newcomers', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }], { ...api, kind: 'User', name: 'newcomer' });
    expect(await allowed(question)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "newcomers" of ClusterRole "newcomers" to User "newcomer"',
    });
    await admin.of(rbac.ClusterRole).delete({ name: 'newcomers' });
    expect(await allowed(question)).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "newcomers" not found',
    });
    await admin.of(rbac.ClusterRoleBinding).delete({ name: 'newcomers' });
    expect(await allowed(question)).toEqual({ allowed: false });
  });

  it('report parts of a selector that were ignored', async () => {
    const fieldSelector = {
      requirements: [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'Newer' },
      ],
    };
    const status = await allowed({ user: 'x', resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector } });
    expect(status).toEqual({
      allowed: false,
      evaluationError: 'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    });
  });

  it('let a node list the pods that run on it', async () => {
    const user = { user: 'system:node:n', groups: ['system:nodes'] };
    const attributes = { verb: 'list', resource: 'pods' };
    expect(await allowed({ ...user, resourceAttributes: { ...attributes, fieldSelector: { rawSelector: 'spec.nodeName=n' } } })).toEqual({
      allowed: true,
    });
    expect(
      await allowed({ ...user, resourceAttributes: { ...attributes, fieldSelector: { rawSelector: 'spec.nodeName=m' } } }),
    ).toMatchObject({ allowed: false });
  });

  it('TokenReview returns the user of a token', async () => {
    const review = (token: string) => admin.of(authentication.TokenReview).create({ spec: { token } } as never);
    expect((await review('alicetoken')).status).toMatchObject({
      authenticated: true,
      user: { username: 'alice', uid: 'alice-uid' },
      audiences: [ISSUER],
    });
    expect((await review('nosuch')).status).toEqual({ user: {}, error: 'invalid bearer token' });
  });
});

describe('certificate signing requests', () => {
  const draft = (name: string, organizations: readonly string[] = [], signerName = 'kubernetes.io/kube-apiserver-client') => {
    const pem = createCertificateRequest(newPrivateKey(), { subject: { commonName: 'x', organizations } });
    const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages: ['client auth'] };
    return { metadata: { name }, spec };
  };
  const requests = (client: Client) => client.of(certificates.CertificateSigningRequest);

  it('for system:masters are rejected', async () => {
    await expect(requests(admin).create(draft('masters', ['system:masters']))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'),
    });
  });

  it('need permission for the signer to be approved or signed', async () => {
    const all = { apiGroups: ['certificates.k8s.io'], verbs: ['*'] };
    await grant(
      'csr-writers',
      [{ ...all, resources: ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status'] }],
      {
        ...api,
        kind: 'Group',
        name: 'signers',
      },
    );
    const user = clientFor('sally', ['signers', 'system:authenticated']);
    const request = await requests(user).create(draft('c'));
    const approved = { ...request, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: '' }] } };
    const approve = () => requests(user).subresource('approval').update(request.metadata, approved);
    await expect(approve()).rejects.toMatchObject({
      message: expect.stringContaining('user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"'),
    });
    await grant('approvers', [{ ...all, resources: ['signers'], resourceNames: ['kubernetes.io/*'], verbs: ['approve'] }], {
      ...api,
      kind: 'Group',
      name: 'signers',
    });
    await approve();
    const current = await requests(user).get(request.metadata);
    const failed = {
      ...current,
      status: { conditions: [...(current.status?.conditions ?? []), { type: 'Failed', status: 'True', reason: 'R' }] },
    };
    await expect(requests(user).updateStatus(failed as never)).rejects.toMatchObject({
      message: expect.stringContaining('user not permitted to sign requests with signerName'),
    });
  });
});

describe('default roles', () => {
  it('are created, repaired, and not written when unchanged', async () => {
    const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
    const subject = { ...api, kind: 'Group', name: 'g' };
    const policy = {
      clusterRoles: [{ metadata: { name: 'd', labels }, rules: [rule] }],
      clusterRoleBindings: [{ metadata: { name: 'd', labels }, roleRef: { ...api, kind: 'ClusterRole', name: 'd' }, subjects: [subject] }],
      roles: [{ metadata: { name: 'd', namespace: 'ns', labels }, rules: [rule] }],
      roleBindings: [
        { metadata: { name: 'd', namespace: 'ns', labels }, roleRef: { ...api, kind: 'Role', name: 'd' }, subjects: [subject] },
      ],
    };
    // Two servers that start concurrently do not interfere.
    await Promise.all([reconcileRbac(admin, policy, silentLogger), reconcileRbac(admin, policy, silentLogger)]);
    const role = await admin.of(rbac.ClusterRole).get({ name: 'd' });
    await admin.of(rbac.ClusterRole).update({ ...role, rules: [] });
    const binding = await admin.of(rbac.ClusterRoleBinding).get({ name: 'd' });
    await admin.of(rbac.ClusterRoleBinding).delete(binding.metadata);
    await admin
      .of(rbac.ClusterRoleBinding)
      .create({ metadata: { name: 'd' }, roleRef: { ...api, kind: 'ClusterRole', name: 'other' }, subjects: [] });
    await reconcileRbac(admin, policy, silentLogger);
    const repaired = await admin.of(rbac.ClusterRole).get({ name: 'd' });
    expect(repaired.rules).toEqual([rule]);
    expect((await admin.of(rbac.ClusterRoleBinding).get({ name: 'd' })).roleRef.name).toBe('d');
    await reconcileRbac(admin, policy, silentLogger);
    expect((await admin.of(rbac.ClusterRole).get({ name: 'd' })).metadata.resourceVersion).toBe(repaired.metadata.resourceVersion);
  });
});
